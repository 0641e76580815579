// Files that grow, and their commits: by copies, and in place.
#include "io/durable/durable.hpp"
#include "io/durable/verify.hpp"
#include "tests/io/series.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <fstream>

using namespace nunatak;

TEST_CASE("append: a committed state can be opened at any time and survives") {
  const Scratch scratch;
  io::Options options;
  options.format = GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct");
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  {
    const auto file = writer->open(path, series(), {io::FileKind::append, 2});
    put_record(*file, 0);
    CHECK_FALSE(std::filesystem::exists(path));
    put_record(*file, 1);
    CHECK(complete_records(path) == 2);
    put_record(*file, 2);
    CHECK(complete_records(path) == 2);
    CHECK(io::verify_manifest(manifest).empty());
    put_record(*file, 3);
    CHECK(complete_records(path) == 4);
    CHECK(io::verify_manifest(manifest).empty());
    put_record(*file, 4);
  } // never closed
  CHECK(complete_records(path) == 4);
  CHECK(io::verify_manifest(manifest).empty());
  // the next run overwrites it; until it commits, the old state stands
  const auto file = writer->open(path, series(), {io::FileKind::append, 2});
  put_record(*file, 0);
  CHECK(complete_records(path) == 4);
  file->close();
  CHECK(complete_records(path) == 1);
  CHECK(io::verify_manifest(manifest).empty());
}

TEST_CASE("append: kept records are committed with the next one at the earliest, and any record on "
          "demand") {
  const Scratch scratch;
  io::Options options;
  options.format = GENERATE("serial", "pnetcdf");
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  const std::string path = scratch / "ts.nc";
  const auto file = writer->open(path, series(), {io::FileKind::append, 1, 3});
  for (std::size_t t = 0; t < 3; ++t) put_record(*file, t);
  file->commit(); // nothing is new
  CHECK_FALSE(std::filesystem::exists(path));
  put_record(*file, 3); // one more, but not half as many again
  CHECK_FALSE(std::filesystem::exists(path));
  file->commit();
  CHECK(complete_records(path) == 4);
  file->close();
  CHECK(complete_records(path) == 4);
}

TEST_CASE("append: commits grow rarer with the file, so that all copies together stay below three "
          "times the file") {
  const Scratch scratch;
  const std::string method =
      GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct/checksum=file");
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method(method, {}));
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  io::Schema schema = series();
  schema.dimensions[1].length =
      1000; // records of 8008 bytes: the header, 8192 bytes, counts little
  const auto file = writer->open(path, schema, {io::FileKind::append, 4});
  for (std::size_t t = 0; t < 200; ++t) {
    file->put_all("time", t, std::vector<double>{static_cast<double>(t)});
    file->put_all("thk", t, std::vector<double>(1000, 0.5));
    file->end_record();
  }
  std::vector<std::int64_t> records;
  std::int64_t copied = 0;
  for (const auto& line : lines_of(manifest)) {
    if (line["state"] != "committed") continue;
    records.push_back(line["records"]);
    copied += line["size"].get<std::int64_t>();
  }
  // at least 4 more, and at least half as many again
  CHECK(records == std::vector<std::int64_t>{4, 8, 12, 18, 27, 41, 62, 93, 140});
  file->close();
  const auto final_size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const io::Summary s = io::summarize(MPI_COMM_WORLD, writer->statistics());
  CHECK(s[io::Phase::copy].bytes == copied);
  CHECK(copied < 3 * final_size);
  CHECK(s[io::Phase::checksum].bytes ==
        (method == "direct/checksum=file" ? copied + final_size : 0));
  CHECK(s.work.written_bytes >= copied + 200 * 8008); // the values once, and the copies
  CHECK(s.work.written_bytes < copied + 2 * final_size);
}

TEST_CASE("append in place: every commit is in the file under its final name, what comes after it "
          "is not, and no copy is made") {
  const Scratch scratch;
  const auto writer = io::make_writer(
      MPI_COMM_WORLD, io::parse_method(GENERATE("direct", "direct/zslab", "direct/box:1"), {}));
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  const auto intact = [&](std::size_t records) {
    CHECK(complete_records(path) == records);
    CHECK(io::verify_manifest(manifest).empty());
    CHECK(message([&] { io::require_intact(MPI_COMM_WORLD, path); }) == "no error");
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const auto flip = [&](std::uintmax_t at) {
    scratch.on_rank_0([&] {
      std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
      f.seekg(static_cast<std::streamoff>(at));
      const int byte = f.get();
      f.seekp(static_cast<std::streamoff>(at));
      f.put(static_cast<char>(byte ^ 16));
    });
  };
  {
    const auto file = writer->open(path, series(), {io::FileKind::append, 1});
    for (std::size_t t = 0; t < 5; ++t) {
      put_record(*file, t);
      CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
      intact(t + 1);
      CHECK(lines_of(manifest).size() == 2 * (t + 1));
    }
    file->put_all("time", 5, std::vector<double>{5.0}); // a record that is under way
    file->sync();
    intact(5);
  } // never closed: what lies beyond the commit stays, and is nobody's
  const auto line = lines_of(manifest).back();
  CHECK(line["grows"] == true);
  CHECK(line["records"] == 5);
  const std::uintmax_t size = line["size"];
  CHECK(std::filesystem::file_size(path) > size);
  flip(size);
  intact(5);
  flip(size - 1); // of a value that is committed
  CHECK(io::verify_manifest(manifest).size() == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  flip(size - 1);
  flip(7); // the last byte of the number of records
  CHECK_FALSE(io::verify_manifest(manifest).empty());
  MPI_Barrier(MPI_COMM_WORLD);
  flip(7);
  // the next run replaces it: not before its first commit
  const auto file = writer->open(path, series(), {io::FileKind::append, 2});
  put_record(*file, 0);
  intact(5);
  put_record(*file, 1);
  intact(2);
  put_record(*file, 2);
  file->close();
  intact(3);
  CHECK_FALSE(lines_of(manifest).back().contains("grows"));
  const auto whole = writer->open(scratch / "whole.nc", series());
  for (std::size_t t = 0; t < 3; ++t) put_record(*whole, t);
  whole->close();
  CHECK(io::checksum_file(path).checksum == io::checksum_file(scratch / "whole.nc").checksum);
  CHECK(io::summarize(MPI_COMM_WORLD, writer->statistics())[io::Phase::copy].bytes == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] { std::ofstream(path, std::ios::app) << "more"; });
  CHECK(io::verify_manifest(manifest).size() == 1); // it is closed: nothing follows
}

TEST_CASE("killed while a record is committed in place: the number in the header decides, and the "
          "manifest knows both") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
    const auto writer = io::make_writer(MPI_COMM_SELF, io::parse_method("direct", {}));
    const auto file = writer->open(path, series(), {io::FileKind::append, 1});
    const auto record = [&](std::size_t t) {
      file->put_all("time", t, std::vector<double>{0.0});
      file->put_all("thk", t, std::vector<double>(100, 1.0));
      file->end_record();
    };
    record(0);
    record(1);
    record(2);
    const auto lines = lines_of(manifest);
    REQUIRE(lines.size() == 6);
    REQUIRE(lines[4]["state"] == "intent");
    std::ofstream out(manifest);
    for (std::size_t n = 0; n < 5; ++n) out << lines[n] << '\n';
    out.close();
    CHECK(io::verify_manifest(manifest).empty()); // behind the number of records
    std::fstream header(path, std::ios::in | std::ios::out | std::ios::binary);
    header.seekp(7);
    header.put(2);
    header.close();
    CHECK(
        io::verify_manifest(manifest).empty()); // before it: two records, and the values of a third
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(7).put(1);
    CHECK(io::verify_manifest(manifest).size() == 1);
  });
}

TEST_CASE("a thousand records, each committed in place: bytes written, header and manifest "
          "included, over bytes put") {
  const Scratch scratch;
  constexpr std::size_t records = 1000, cells = 2000;
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"cell", cells}};
  schema.variables = {{"thk", io::Type::float64, {"time", "cell"}, {}}};
  const std::size_t first = cells * rank / size, count = cells * (rank + 1) / size - first;
  const std::vector<double> thk(count, 1.5);
  const std::string manifest = scratch / "manifest.jsonl";
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method("direct", {}));
  const auto file = writer->open(scratch / "ts.nc", schema, {io::FileKind::append, 1});
  for (std::size_t t = 0; t < records; ++t) {
    file->put("thk", t, io::Block{{first}, {count}, {}}, thk.data());
    file->end_record(static_cast<std::int64_t>(t));
  }
  file->close();
  const std::int64_t values = io::summarize(MPI_COMM_WORLD, file->statistics()).work.written_bytes;
  scratch.on_rank_0([&] {
    const std::int64_t written =
        values + static_cast<std::int64_t>(std::filesystem::file_size(manifest));
    constexpr double payload = records * cells * sizeof(double);
    CHECK(static_cast<double>(written) >
          payload + static_cast<double>(std::filesystem::file_size(manifest)));
    CHECK(static_cast<double>(written) < 1.05 * payload);
  });
}

namespace {

io::Schema with_history(std::string history) {
  history.resize(1024, ' ');
  io::Schema schema = series();
  schema.attributes = {{"title", "a"}, {"history", history}, {"comment", "b"}};
  return schema;
}

/// Records begin <= t < end of a series; closed.
void write_series(const std::string& path, const std::string& method, const io::Schema& schema,
                  std::size_t end) {
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method(method, {}));
  const auto file = writer->open(path, schema, {io::FileKind::append, 1});
  for (std::size_t t = 0; t < end; ++t) put_record(*file, t);
  file->close();
  writer->finish();
}

} // namespace

TEST_CASE("a series that goes on in place has the bytes of one that was written at once, and "
          "stands until the next record comes") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  const std::string before = GENERATE("serial", "pnetcdf", "direct"),
                    method = GENERATE("direct", "direct/zslab", "direct/box:1");
  write_series(path, before, with_history("one"), 5);
  const std::string bytes_before = io::checksum_file(path).checksum;
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method(method, {}));
  const auto in = [&](std::size_t records) {
    CHECK(complete_records(path) == records);
    CHECK(io::verify_manifest(manifest).empty());
    CHECK(message([&] { io::require_intact(MPI_COMM_WORLD, path); }) == "no error");
    MPI_Barrier(MPI_COMM_WORLD);
  };
  for (const bool goes_on : {false, true}) {
    const auto file =
        writer->open(path, with_history("one\ntwo"), {io::FileKind::append, 1, 3, true});
    REQUIRE(file->is_continued());
    CHECK(io::checksum_file(path).checksum == bytes_before);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
    CHECK(message([&] { file->put_all("time", 2, std::vector<double>{0.0}); }).find("from 3 on") !=
          std::string::npos);
    if (!goes_on) continue;
    put_record(*file, 3);
    file->put_all("time", 4, std::vector<double>{4.0}); // under way: the commit before it is done
    file->sync();
    in(4);
    file->put("thk", 4, io::Block{{0}, {rank_in(MPI_COMM_WORLD) == 0 ? std::size_t{100} : 0}, {}},
              std::vector<double>(100, 4.25).data());
    file->end_record(4);
    put_record(*file, 5);
    file->close();
  }
  writer->finish();
  in(6);
  CHECK_FALSE(lines_of(manifest).back().contains("grows"));
  write_series(scratch / "whole.nc", GENERATE("serial", "pnetcdf"), with_history("one\ntwo"), 6);
  CHECK(io::checksum_file(path).checksum == io::checksum_file(scratch / "whole.nc").checksum);
}

TEST_CASE("a continued series without a new record ends with those that it keeps") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  write_series(path, "direct", with_history("one"), 5);
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method("direct", {}));
  const auto file =
      writer->open(path, with_history("one\ntwo"), {io::FileKind::append, 1, 3, true});
  REQUIRE(file->is_continued());
  file->close();
  CHECK(complete_records(path) == 3);
  CHECK(io::verify_manifest(scratch / "manifest.jsonl").empty());
}

TEST_CASE("a series that cannot go on in place is written anew, and says why") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  const auto why = [&](const std::string& method, const io::Schema& schema, int every = 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method(method, {}));
    const auto file = writer->open(path, schema, {io::FileKind::append, every, 3, true});
    CHECK_FALSE(file->is_continued());
    std::string reason = file->why_anew();
    io::broadcast(reason, MPI_COMM_WORLD);
    return reason;
  };
  const io::Schema two = with_history("one\ntwo");
  io::Schema longer = two, other = two;
  longer.attributes[1] = {"history", std::string(2048, 'x')};
  other.variables[1].attributes = {{"units", "m"}};
  write_series(path, "direct", with_history("one"), 5);
  CHECK(why("direct", longer).find("no room") != std::string::npos);
  CHECK(why("direct", other).find("another header") != std::string::npos);
  CHECK(why("direct/checksum=memory", two).find("checksum") != std::string::npos);
  CHECK(why("pnetcdf", two).empty());
  CHECK(why("direct", two, 0).empty());
  scratch.on_rank_0([&] { std::filesystem::create_hard_link(path, scratch / "kept.nc"); });
  CHECK(why("direct", two).find("several names") != std::string::npos);
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] {
    std::filesystem::remove(scratch / "kept.nc"),
        std::filesystem::remove(scratch / "manifest.jsonl");
  });
  CHECK(why("direct", two).find("no line") != std::string::npos);
  write_series(path, "direct/checksum=none", with_history("one"), 5);
  CHECK(why("direct", two).find("no sums") != std::string::npos);
}

TEST_CASE("41 records and 2 more in place: bytes written over bytes put") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  constexpr std::size_t cells = 50000;
  const auto schema = [&](const char* history) {
    io::Schema s = with_history(history);
    s.dimensions[1].length = cells;
    return s;
  };
  const auto put = [&](io::File& file, std::size_t t) {
    file.put_all("time", t, std::vector<double>{static_cast<double>(t)});
    file.put_all("thk", t, std::vector<double>(cells, 0.5));
    file.end_record();
  };
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method("direct", {}));
  const auto first = writer->open(path, schema("one"), {io::FileKind::append, 10});
  for (std::size_t t = 0; t < 41; ++t) put(*first, t);
  first->close();
  const auto size_before = static_cast<std::int64_t>(std::filesystem::file_size(manifest));
  MPI_Barrier(MPI_COMM_WORLD);
  const auto file = writer->open(path, schema("one\ntwo"), {io::FileKind::append, 10, 41, true});
  REQUIRE(file->is_continued());
  put(*file, 41);
  put(*file, 42);
  file->close();
  const std::int64_t values = io::summarize(MPI_COMM_WORLD, file->statistics()).work.written_bytes;
  scratch.on_rank_0([&] {
    const std::int64_t written =
        values + static_cast<std::int64_t>(std::filesystem::file_size(manifest)) - size_before;
    constexpr double payload = 2 * (cells + 1) * sizeof(double);
    CHECK(static_cast<double>(written) > payload);
    CHECK(static_cast<double>(written) < 1.05 * payload);
  });
}
