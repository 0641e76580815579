// A file for the bytes of a fuzzer: harnesses of readers that take a path. One process, one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class ScratchFile {
public:
  ScratchFile() {
    std::string name = std::filesystem::exists("/dev/shm")
                           ? "/dev/shm/nunatak_fuzz_XXXXXX"
                           : std::filesystem::temp_directory_path() / "nunatak_fuzz_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    m_folder = name;
  }
  ~ScratchFile() { std::filesystem::remove_all(m_folder); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string with(const std::string& name, const std::uint8_t* data, std::size_t size) const {
    const std::string path = m_folder + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return path;
  }

private:
  std::string m_folder;
};
