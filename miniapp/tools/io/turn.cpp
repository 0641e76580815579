#include "miniapp/tools/io/turn.hpp"

#include "io/agree.hpp"
#include "io/formats/raw.hpp"
#include "io/layouts/join.hpp"
#include "io/registry.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>
#include <thread>

namespace nunatak::tools {

namespace {

/// `n` multiplications and additions on eight independent numbers, which stay near 1.
double multiply_add(double n) {
  std::array<double, 8> x{1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7};
  for (double done = 0.0; done < n; done += 8.0) {
    for (double& value : x) value = value * 0.999 + 0.001;
  }
  double sum = 0.0;
  for (const double value : x) sum += value;
  return sum;
}

/// Of the slowest rank.
double slowest(MPI_Comm comm, double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

bool is_plain(const io::Options& options) { return io::has_features(options, io::plain); }

/// Flat binary, as its JSON describes it: every rank preads its own. Collective, as io::Reader is.
class PlainFile {
public:
  PlainFile(const std::string& path, MPI_Comm comm) : m_comm(comm) {
    const double start = MPI_Wtime();
    io::agree(comm, [&] { m_file = io::open_raw(path); });
    m_statistics.open_seconds = MPI_Wtime() - start;
  }
  std::vector<double> read(const std::string& variable, const std::vector<std::size_t>& start,
                           const std::vector<std::size_t>& count) {
    const io::Type type = m_file.schema.variables[m_file.schema.variable(variable)].type;
    const std::size_t elements = Box{start, count}.elements();
    m_bytes.resize(elements * io::bytes_of(type));
    const double begin = MPI_Wtime();
    io::agree(m_comm, [&] {
      if (elements > 0) io::read_raw(m_file, variable, start, count, m_bytes.data());
    });
    m_statistics.read_seconds += MPI_Wtime() - begin;
    m_statistics.bytes += static_cast<std::int64_t>(m_bytes.size());
    m_statistics.operations += elements > 0 ? 1 : 0;
    std::vector<double> values(elements);
    io::with_type(type, [&](auto sample) {
      const auto* from = reinterpret_cast<const decltype(sample)*>(m_bytes.data());
      std::copy(from, from + elements, values.begin());
    });
    return values;
  }
  const io::ReadStatistics& statistics() const { return m_statistics; }

private:
  MPI_Comm m_comm;
  io::RawFile m_file;
  std::vector<std::byte> m_bytes;
  io::ReadStatistics m_statistics;
};

} // namespace

Compute::Compute(double seconds, bool sleeps) : m_seconds(seconds), m_sleeps(sleeps) {
  if (seconds <= 0.0) return;
  m_parts = static_cast<int>(std::ceil(1e3 * seconds));
  if (sleeps) return;
  volatile double sink = 0.0;     // the compiler must not drop what nobody reads
  double trial = 1e6, time = 0.0; // of the processor: others may take the core away meanwhile
  for (; time < 0.02; trial *= 2.0) {
    const std::clock_t start = std::clock();
    sink = sink + multiply_add(trial);
    time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    m_operations = seconds * trial / time;
  }
}

double Compute::run() const {
  if (m_parts == 0) return 0.0;
  volatile double sink = 0.0;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < m_parts; ++k) {
    if (m_sleeps) {
      std::this_thread::sleep_until(start +
                                    std::chrono::duration<double>(m_seconds * (k + 1) / m_parts));
    } else {
      sink = sink + multiply_add(m_operations / m_parts);
    }
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
         m_seconds;
}

WriteTurn write_turn(MPI_Comm comm, io::Writer& writer, Arrays& arrays, const std::string& order,
                     const std::string& path, std::size_t records, const Compute& compute) {
  const io::Schema schema = schema_of(arrays.workload(), order);
  WriteTurn turn;
  arrays.fill(0);
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  const auto file =
      writer.open(path, schema, {records > 1 ? io::FileKind::append : io::FileKind::once, 0});
  for (std::size_t record = 0; record < records; ++record) {
    if (record > 0) {
      const double pause = MPI_Wtime();
      turn.compute_slowdown += compute.run() / static_cast<double>(records - 1);
      arrays.fill(record);
      MPI_Barrier(comm); // waiting for a slow rank is no output either
      turn.compute_seconds += MPI_Wtime() - pause;
    }
    arrays.put(*file, record, order);
    file->end_record(static_cast<std::int64_t>(record));
  }
  file->close(static_cast<std::int64_t>(records) - 1);
  const double visible = MPI_Wtime() - start - turn.compute_seconds;
  writer.finish();
  turn.seconds = slowest(comm, MPI_Wtime() - start - turn.compute_seconds);
  turn.visible_seconds = slowest(comm, visible);
  turn.compute_seconds = slowest(comm, turn.compute_seconds);
  turn.compute_slowdown = slowest(comm, turn.compute_slowdown);
  turn.summary = io::summarize(comm, file->statistics());
  turn.hints = file->hints();
  turn.servers = writer.server_reports();
  return turn;
}

ReadTurn read_turn(MPI_Comm comm, const std::string& path, const NamedWay& written,
                   const io::ReadOptions& how, const Arrays& arrays, std::size_t records,
                   bool verify) {
  const Workload& workload = arrays.workload();
  ReadTurn turn;
  std::string difference; // the first of this rank
  double not_reading = 0.0;
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  std::optional<io::Reader> netcdf; // this one or the other
  std::optional<PlainFile> plain;
  if (is_plain(written.options)) {
    plain.emplace(path, comm);
  } else {
    netcdf.emplace(path, comm, how);
  }
  const auto read = [&](const std::string& variable, const std::vector<std::size_t>& first,
                        const std::vector<std::size_t>& count) {
    return plain ? plain->read(variable, first, count) : netcdf->read_block(variable, first, count);
  };
  for (std::size_t record = 0; record < records; ++record) {
    for (std::size_t v = 0; v < workload.variables.size(); ++v) {
      const WorkloadVariable& variable = workload.variables[v];
      if (!variable.records && record > 0) continue;
      const std::vector<Arrays::FileBox> boxes = arrays.file_boxes(v, record, written.order);
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        const std::vector<double> values = read(variable.name, boxes[b].start, boxes[b].count);
        turn.bytes += static_cast<std::int64_t>(values.size() * io::bytes_of(variable.type));
        if (!verify) continue;
        const double pause = MPI_Wtime();
        if (difference.empty())
          difference = arrays.first_difference(v, b, record, written.order, values).value_or("");
        turn.compared += static_cast<std::int64_t>(values.size());
        MPI_Barrier(comm);
        not_reading += MPI_Wtime() - pause;
      }
    }
  }
  turn.seconds = slowest(comm, MPI_Wtime() - start - not_reading);
  turn.summary = io::summarize(comm, plain ? plain->statistics() : netcdf->statistics());
  MPI_Allreduce(MPI_IN_PLACE, &turn.bytes, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &turn.compared, 1, MPI_INT64_T, MPI_SUM, comm);
  if (verify) {
    for (const WorkloadVariable& variable : workload.variables) {
      if (variable.content != Content::coordinate) continue;
      const std::size_t length = workload.dimension(variable.name).length;
      const std::vector<double> values = read(variable.name, {0}, {length});
      if (difference.empty())
        difference = arrays.coordinate_difference(variable, values).value_or("");
    }
  }
  io::agree(comm, [&] {
    if (!difference.empty()) throw io::Error("file '" + path + "': " + difference);
  });
  return turn;
}

bool is_in_subfiles(const io::Options& written) {
  return io::has_features(written, io::subfiles | io::netcdf) && io::layout_row(written).subfiles;
}

double join_turn(MPI_Comm comm, const std::string& path, const std::string& joined) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  io::join(comm, path, joined, {});
  return slowest(comm, MPI_Wtime() - start);
}

std::string why_not_read(const io::Options& written, io::ReadBy by) {
  if (!io::has_features(written, io::netcdf) && !is_plain(written)) return "there is no file";
  if (is_plain(written) && by != io::ReadBy::each && by != io::ReadBy::automatic)
    return "a plain file is read by each rank";
  return "";
}

} // namespace nunatak::tools
