// Files that grow, their commits in place, and series that go on, with and without servers.
#include "io/disk/disk.hpp"
#include "tests/io/series.hpp"
#include "tests/io/with_servers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <fstream>

using namespace nunatak;

namespace {

/// The file in the folder has so many records, and the manifest says so.
void check_intact(const Scratch& scratch, std::size_t records) {
  CHECK(complete_records(scratch / "ts.nc") == records);
  CHECK(verify_alone(scratch / "manifest.jsonl").empty());
  CHECK(message([&] { io::require_intact(MPI_COMM_WORLD, scratch / "ts.nc"); }) == "no error");
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Bytes that all ranks write in f.
template <class F> double bytes_written_by(const F& f) {
  const std::int64_t before = bytes_of_process("wchar");
  f();
  std::int64_t written = bytes_of_process("wchar") - before;
  MPI_Allreduce(MPI_IN_PLACE, &written, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return static_cast<double>(written);
}

} // namespace

TEST_CASE("close: final name, no temporary name, a line in the manifest; not before") {
  const Scratch scratch;
  const std::string method = GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct");
  const auto writer = writer_of(method);
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  std::optional<int> every; // direct would grow in place
  if (method != "direct") every = 1;
  for (const std::size_t records : {3, 2}) { // the second run replaces the first
    const auto file = writer->open(path, series(), {every});
    for (std::size_t t = 0; t < records; ++t) put_record(*file, t);
    file->commit();
    CHECK(std::filesystem::exists(path) == (records == 2));
    file->close(42);
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
    check_intact(scratch, records); // rank 0 has let the name go
    CHECK_FALSE(std::filesystem::exists(path + ".lock"));
    const nlohmann::json line = lines_of(manifest).back();
    CHECK(line["name"] == "ts.nc");
    CHECK(line["size"] == std::filesystem::file_size(path));
    CHECK((line["step"] == 42 && line["records"] == records));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::vector<std::string> states;
  for (const nlohmann::json& line : lines_of(manifest)) states.push_back(line["state"]);
  CHECK(std::count(states.begin(), states.end(), "committed") == 2); // others: "saved"
}

TEST_CASE(
    "another program takes the name, the bytes or the lock: an error, which says what is saved") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  using Path = const std::string&;
  struct Change {
    std::function<void(Path)> make;
    std::string words;
  };
  const Change change = GENERATE(values<Change>({
      {[](Path name) {
         std::filesystem::copy_file(name, name + ".other");
         std::filesystem::rename(name + ".other", name);
       },
       "it was replaced by another program while this run writes it; up to record 2 "},
      {[](Path name) { std::filesystem::remove(name); }, "it was removed by another program"},
      {[](Path name) { std::filesystem::resize_file(name, std::filesystem::file_size(name) - 8); },
       "it was truncated by another program"},
      {[](Path name) { flip(name, 40); }, "another program has written to it"},
      {[](Path name) { std::filesystem::remove(name + ".lock"); }, "its lock '"},
  }));
  const auto writer = writer_of("direct");
  const auto file = writer->open(path, series(), {1});
  for (std::size_t t = 0; t < 2; ++t) put_record(*file, t);
  scratch.on_rank_0([&] { change.make(path); });
  CHECK_REFUSED(put_record(*file, 2), change.words);
}

TEST_CASE("another program takes the name before the first commit") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  const std::string method = GENERATE("direct", "serial", "pnetcdf");
  const auto writer = writer_of(method);
  const auto file = writer->open(path, series(), {});
  put_record(*file, 0);
  scratch.on_rank_0([&] {
    std::filesystem::copy_file(path + ".tmp", path + ".other");
    std::filesystem::rename(path + ".other", path + ".tmp");
  });
  CHECK_REFUSED(file->close(), "it was replaced by another program while this run writes it; "
                               "nothing of it was saved");
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("append: kept records are committed with the next one, any record on demand") {
  const Scratch scratch;
  const auto writer = writer_of("direct");
  const std::string path = scratch / "ts.nc";
  const auto file = writer->open(path, series(), {2, 3});
  for (std::size_t t = 0; t < 3; ++t) put_record(*file, t);
  file->commit(); // nothing is new
  CHECK_FALSE(std::filesystem::exists(path));
  put_record(*file, 3);
  CHECK_FALSE(std::filesystem::exists(path));
  file->commit();
  CHECK(complete_records(path) == 4);
  file->close();
  CHECK(complete_records(path) == 4);
}

TEST_CASE("append in place: the file holds what is committed under its final name, and no more") {
  const Scratch scratch;
  const auto writer = writer_of(GENERATE("direct", "direct/zslab", "direct/box:1"));
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  const auto flip_byte = [&](std::uintmax_t at) { scratch.on_rank_0([&] { flip(path, at); }); };
  {
    const auto file = writer->open(path, series(), {1});
    for (std::size_t t = 0; t < 5; ++t) {
      put_record(*file, t);
      CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
      check_intact(scratch, t + 1);
      CHECK(lines_of(manifest).size() == t + 1);
    }
  } // never closed
  // part of a record that was under way when the run was killed
  scratch.on_rank_0([&] { std::ofstream(path, std::ios::app) << "uncommitted"; });
  check_intact(scratch, 5);
  const auto line = lines_of(manifest).back();
  CHECK(line["grows"] == true);
  CHECK(line["records"] == 5);
  const std::uintmax_t size = line["size"];
  CHECK(std::filesystem::file_size(path) > size);
  flip_byte(size);
  check_intact(scratch, 5);
  flip_byte(size - 1); // of a value that is committed
  CHECK(verify_alone(manifest).size() == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  flip_byte(size - 1);
  flip_byte(7); // the last byte of the number of records
  CHECK_FALSE(verify_alone(manifest).empty());
  MPI_Barrier(MPI_COMM_WORLD);
  flip_byte(7);
  // the next run replaces it: not before its first commit
  const auto file = writer->open(path, series(), {2});
  put_record(*file, 0);
  check_intact(scratch, 5);
  put_record(*file, 1);
  check_intact(scratch, 2);
  put_record(*file, 2);
  file->close();
  check_intact(scratch, 3);
  CHECK_FALSE(lines_of(manifest).back().contains("grows"));
  const auto whole = writer->open(scratch / "whole.nc", series());
  for (std::size_t t = 0; t < 3; ++t) put_record(*whole, t);
  whole->close();
  CHECK(file_hash(path) == file_hash(scratch / "whole.nc"));
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] { std::ofstream(path, std::ios::app) << "more"; });
  CHECK(verify_alone(manifest).size() == 1); // it is closed: nothing follows
}

TEST_CASE("killed while a record is committed in place: that record is there, or it is not") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
    const auto writer = writer_of("direct", MPI_COMM_SELF);
    const auto file = writer->open(path, series(), {1});
    for (std::size_t t = 0; t < 3; ++t) put_record(*file, t, MPI_COMM_SELF);
    const auto lines = lines_of(manifest);
    REQUIRE(lines.size() == 3);
    const auto set_records = [&](char n) {
      std::fstream header(path, std::ios::in | std::ios::out | std::ios::binary);
      header.seekp(7);
      header.put(n);
    };
    std::ofstream(manifest) << lines[0] << '\n' << lines[1] << '\n';
    CHECK(verify_alone(manifest).empty()); // the number of records, but not the line
    set_records(2);
    CHECK(verify_alone(manifest).empty()); // neither
    set_records(1);
    CHECK(verify_alone(manifest).size() == 1);
  });
}

TEST_CASE("a thousand records, each committed in place: bytes written over bytes put") {
  const Scratch scratch;
  constexpr std::size_t records = 1000, cells = 2000;
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"cell", cells}};
  schema.variables = {{"thk", io::Type::float64, {"time", "cell"}, {}}};
  const auto [first, count] = my_part(cells);
  const std::vector<double> thk(count, 1.5);
  const std::string manifest = scratch / "manifest.jsonl";
  const auto writer = writer_of("direct");
  const double written = bytes_written_by([&, first = first, count = count] {
    const auto file = writer->open(scratch / "ts.nc", schema, {1});
    for (std::size_t t = 0; t < records; ++t) {
      file->put("thk", t, io::Block{{first}, {count}, {}}, thk.data());
      file->end_record(static_cast<std::int64_t>(t));
    }
    file->close();
  });
  constexpr double payload = records * cells * sizeof(double);
  CHECK(written > payload + static_cast<double>(std::filesystem::file_size(manifest)));
  CHECK(written < 1.05 * payload);
}

TEST_CASE("a series that goes on in place has the bytes of one written at once") {
  const std::string transport = GENERATE("sync", "async:1", "async:2");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const std::string path = scratch / "ts.nc", before = GENERATE("serial", "pnetcdf", "direct"),
                    layout = GENERATE("", "/zslab", "/box"),
                    number = transport == "sync" && layout == "/box" ? ":1" : "";
  write_series(path, before, with_history("one"), 5);
  const std::size_t bytes_before = file_hash(path);
  compute(transport, "direct" + layout + number, [&](io::Writer& writer, MPI_Comm comm) {
    for (const bool goes_on : {false, true}) { // the first is given up: the old file stands
      const auto file = writer.open(path, with_history("one\ntwo"), {1, 3, true});
      REQUIRE(file->is_continued());
      CHECK(file_hash(path) == bytes_before);
      MPI_Barrier(comm);
      CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
      CHECK_REFUSED(file->put_all("time", 2, std::vector<double>{0.0}), "from 3 on");
      MPI_Barrier(comm);
      if (!goes_on) continue;
      put_record(*file, 3, comm);
      file->put_all("time", 4, std::vector<double>{4.0}); // under way: the commit before it is done
      if (transport == "sync") check_intact(scratch, 4);
      file->put("thk", 4, io::Block{{0}, {rank_in(comm) == 0 ? std::size_t{100} : 0}, {}},
                std::vector<double>(100, 4.25).data());
      file->end_record(4);
      put_record(*file, 5, comm);
      file->close();
    }
    writer.finish();
  });
  MPI_Barrier(MPI_COMM_WORLD);
  check_intact(scratch, 6);
  CHECK_FALSE(lines_of(scratch / "manifest.jsonl").back().contains("grows"));
  write_series(scratch / "whole.nc", GENERATE("serial", "pnetcdf"), with_history("one\ntwo"), 6);
  CHECK(file_hash(path) == file_hash(scratch / "whole.nc"));
}

TEST_CASE("a continued series without a new record ends with those that it keeps") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  write_series(path, "direct", with_history("one"), 5);
  const auto writer = writer_of("direct");
  const auto file = writer->open(path, with_history("one\ntwo"), {1, 3, true});
  REQUIRE(file->is_continued());
  file->close();
  CHECK(complete_records(path) == 3);
  CHECK(verify_alone(scratch / "manifest.jsonl").empty());
}

TEST_CASE("a series that cannot go on in place is written anew, or refused, and says why") {
  const std::string transport = GENERATE("sync", "async:1", "async:2");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  bool is_cut_off = false;
  const auto why = [&](const std::string& way, const std::string& method, const std::string& name,
                       const io::Schema& schema, int every = 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_cut_off) scratch.on_rank_0([&] { std::filesystem::remove(path + ".tmp"); });
    std::string reason;
    compute(way, method, [&](io::Writer& writer, MPI_Comm comm) {
      const std::string error = message([&] {
        const auto file = writer.open(name, schema, {every, 3, true});
        CHECK_FALSE(file->is_continued());
        reason = file->why_anew();
      });
      if (error == "no error") return;
      reason = error;
      io::broadcast(reason, comm);
      CHECK(reason == error);
    });
    io::broadcast(reason, MPI_COMM_WORLD);
    return reason;
  };
  const auto why_not = [&](const io::Schema& schema, const std::string& method = "direct",
                           int every = 1) { return why(transport, method, path, schema, every); };
  const auto has = [](const std::string& reason, const char* words) {
    CHECK_THAT(reason, Catch::Matchers::ContainsSubstring(words));
  };
  const io::Schema two = with_history("one\ntwo");
  io::Schema longer = two, other = two;
  longer.attributes[1] = {"history", std::string(2048, 'x')};
  other.variables[1].attributes = {{"units", "m"}};
  write_series(path, "direct", with_history("one"), 5);
  has(why_not(longer), "no room");
  has(why_not(other), "another header");
  CHECK(why_not(other) == why("sync", "direct", path, other));
  has(why_not(two, "direct/checksum=none"), "sums");
  CHECK(why_not(two, "pnetcdf").empty());
  CHECK(why_not(two, "direct", 0).empty());
  const std::string none = scratch / "none/ts.nc", error = why(transport, "direct", none, two);
  has(error, none.c_str()); // no such folder
  CHECK(error == why("sync", "direct", none, two));
  scratch.on_rank_0([&] { std::filesystem::create_hard_link(path, scratch / "kept.nc"); });
  has(why_not(two), "several names");
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] {
    std::filesystem::remove(scratch / "kept.nc");
    std::ofstream(path + ".tmp") << "of a run that was killed while it replaced the series";
  });
  is_cut_off = true;
  has(why_not(two), "killed while it replaced it");
  is_cut_off = false;
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] { std::filesystem::remove(scratch / "manifest.jsonl"); });
  has(why_not(two), "no line");
  write_series(path, "direct/checksum=none", with_history("one"), 5);
  has(why_not(two), "no sums");
}

TEST_CASE("41 records and 2 more in place: bytes written over bytes put") {
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
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
  const auto writer = writer_of("direct");
  const auto first = writer->open(path, schema("one"), {10});
  for (std::size_t t = 0; t < 41; ++t) put(*first, t);
  first->close();
  const double written = bytes_written_by([&] {
    const auto file = writer->open(path, schema("one\ntwo"), {10, 41, true});
    REQUIRE(file->is_continued());
    put(*file, 41);
    put(*file, 42);
    file->close();
  });
  constexpr double payload = 2 * (cells + 1) * sizeof(double);
  CHECK(written > payload);
  CHECK(written < 1.05 * payload);
}
