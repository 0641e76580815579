#include "io/layouts/join.hpp"

#include "io/agree.hpp"
#include "io/layouts/subfile_set.hpp"
#include "io/writer.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

/// Put values of variable v, laid out as in the file; nullptr: nothing.
void put(File& file, std::size_t v, std::size_t record, const Box& box, const std::byte* data) {
  const Variable& variable = file.schema().variables[v];
  const Block block{box.start, box.count, {}};
  with_type(variable.type, [&](auto zero) {
    const auto* const values = reinterpret_cast<const decltype(zero)*>(data);
    if (file.schema().has_records(variable)) {
      file.put(variable.name, record, block, values);
    } else {
      file.put(variable.name, block, values);
    }
  });
}

/// One record of a variable, or all if it has none. All ranks call put equally often.
void copy_variable(MPI_Comm comm, SubfileSet& subfiles, File& file, std::size_t v,
                   std::size_t record, std::size_t buffer) {
  const int rank = rank_in(comm), size = size_of(comm);
  const std::size_t bytes = bytes_of(file.schema().variables[v].type),
                    limit = std::max<std::size_t>(1, buffer / bytes);
  struct Step {
    std::size_t subfile;
    Box box;
  };
  // of all ranks, so that each knows their number
  std::vector<std::vector<Step>> steps(static_cast<std::size_t>(size));
  for (const SubfileSet::Part& part : subfiles.parts(v)) {
    for (const Box& box : cut(part.box, limit))
      steps[part.subfile % steps.size()].push_back({part.subfile, box});
  }
  std::size_t most = 0;
  for (const auto& of_rank : steps) most = std::max(most, of_rank.size());
  const std::vector<Step>& mine = steps[static_cast<std::size_t>(rank)];
  Buffer values;
  for (std::size_t n = 0; n < most; ++n) {
    std::byte* data = nullptr;
    Box box;
    agree(comm, [&] {
      if (n >= mine.size()) return;
      box = mine[n].box;
      data = values.of_size(box.elements() * bytes);
      subfiles.read(v, record, mine[n].subfile, box, data);
    });
    put(file, v, record, box, data);
  }
}

} // namespace

Joined join(MPI_Comm comm, const std::string& path, const std::string& output,
            const Options& options) {
  SubfileSet subfiles(comm, path);
  Writer writer(comm, options);
  const auto file = writer.open(output, subfiles.schema());
  const auto copy = [&](bool has_records, std::size_t record) {
    for (std::size_t v = 0; v < subfiles.schema().variables.size(); ++v) {
      if (subfiles.schema().has_records(subfiles.schema().variables[v]) == has_records)
        copy_variable(comm, subfiles, *file, v, record, options.copy_bytes());
    }
  };
  copy(false, 0);
  for (std::size_t t = 0; t < subfiles.records(); ++t) {
    copy(true, t);
    file->end_record();
  }
  file->close();
  return {subfiles.size(), subfiles.records()};
}

} // namespace nunatak::io
