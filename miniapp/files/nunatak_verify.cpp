// nunatak-verify: compares files with the checksums in manifest.jsonl of their folder.
//
//   nunatak-verify                                       all files of this folder
//   mpiexec -n 4 nunatak-verify /scratch/run result.nc   that folder, and one file or its subfiles
//
// Neighbour: io/durable/manifest.hpp (what the lines mean).
#include "common/error.hpp"
#include "common/names.hpp"
#include "io/durable/manifest.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/records.hpp"

#include <filesystem>
#include <iostream>

using namespace nunatak;

namespace {

/// Verifies one argument: a folder, or one file.
io::Verification verify(const std::string& word) {
  std::error_code none;
  const bool is_folder = World().max(std::int64_t{World().rank() == 0 &&
                                                  std::filesystem::is_directory(word, none)}) > 0;
  if (is_folder) return io::verify(world_comm(), word + "/manifest.jsonl");
  const std::string manifest = manifest_of(word);
  io::Verification result =
      io::verify(world_comm(), manifest, std::filesystem::path(word).filename().string());
  if (result.files == 0)
    throw Error("file '" + word + "': expected a line of it in '" + manifest + "', found none");
  return result;
}

void run(const std::vector<std::string>& words, const std::string& json) {
  World().on_rank_0([&] {
    std::vector<NamedFile> files{{"-report", json}}; // which is none of the files that are verified
    const std::string manifest = json.empty() ? "" : manifest_of(json);
    for (const auto& [name, lines] : io::parse_manifest(io::read_manifest(manifest)).files)
      files.push_back({"FILE", std::filesystem::path(json).replace_filename(name), FileUse::read});
    for (const std::string& word : words) files.push_back({"FILE", word, FileUse::read});
    check_files(files);
  });
  io::Verification all;
  bool all_found = true;
  for (const std::string& word : words) {
    io::Verification one;
    try {
      one = verify(word);
    } catch (const Error& error) { // thrown on all ranks: reported after the others are verified
      one.complaints.emplace_back(error.what());
      all_found = false;
    }
    all.files += one.files;
    all.bytes += one.bytes;
    for (const std::string& complaint : one.complaints) {
      if (World().rank() == 0) std::cout << complaint << std::endl;
    }
    all.complaints.insert(all.complaints.end(), one.complaints.begin(), one.complaints.end());
  }
  write_json(json, {{"tool", "nunatak-verify"},
                    {"version", NUNATAK_VERSION},
                    {"files", all.files},
                    {"bytes", all.bytes},
                    {"complaints", all.complaints}});
  const std::string found =
      std::to_string(all.files) + " file(s), " + std::to_string(all.bytes) + " bytes: ";
  const std::string complaints = std::to_string(all.complaints.size()) + " complaint(s)";
  if (!all_found) throw Error(found + complaints);
  if (!all.complaints.empty()) throw Difference(found + complaints);
  if (World().rank() == 0) std::cout << found << "as they were written" << std::endl;
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-verify", [&](Libraries&) {
    std::vector<std::string> words;
    std::string json;
    OptionTable table(
        "nunatak-verify: compares files with the sizes and sums in manifest.jsonl of their folder",
        "mpiexec -n 4 nunatak-verify [FOLDER|FILE ...]");
    table.notes(
        {"Without FOLDER or FILE: this folder. Exit status: 0 intact, 1 something differs, 2 "
         "error."});
    table.section("Output");
    table.add(text("report", json, "JSON file of the complaints"));
    if (!table.read(argc, argv, &words)) return;
    if (words.empty()) words.emplace_back(".");
    run(words, json);
  });
}
