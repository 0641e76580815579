// Reads the file of any format: NetCDF through io::Reader, plain files through their JSON.
#pragma once

#include "io/formats/raw.hpp"
#include "io/reader.hpp"

#include <filesystem>
#include <optional>

class AnyReader {
public:
  explicit AnyReader(const std::string& path) {
    if (std::filesystem::exists(path + ".json")) {
      m_raw = nunatak::io::open_raw(path);
    } else {
      m_nc.emplace(path, MPI_COMM_WORLD);
    }
  }

  using Sizes = std::vector<std::size_t>;
  std::size_t records() const {
    return m_nc ? m_nc->records() : static_cast<std::size_t>(m_raw->records);
  }
  std::vector<double> read_block(const std::string& name, const Sizes& start,
                                 const Sizes& count) const {
    return m_nc ? m_nc->read_block(name, start, count) : raw<double>(name, start, count);
  }
  std::vector<std::int64_t> read_block_int(const std::string& name, const Sizes& start,
                                           const Sizes& count) const {
    return m_nc ? m_nc->read_block_int(name, start, count) : raw<std::int64_t>(name, start, count);
  }
  std::vector<double> read_all(const std::string& name) const {
    if (m_nc) return m_nc->read_all(name);
    Sizes count = m_raw->schema.shape(m_raw->schema.variables[m_raw->schema.variable(name)]);
    for (std::size_t& n : count) n = n == nunatak::io::unlimited ? records() : n;
    return raw<double>(name, Sizes(count.size(), 0), count);
  }

private:
  template <class T>
  std::vector<T> raw(const std::string& name, const Sizes& start, const Sizes& count) const {
    using nunatak::io::Type;
    switch (m_raw->schema.variables[m_raw->schema.variable(name)].type) {
    case Type::int8:
      return raw_as<std::int8_t, T>(name, start, count);
    case Type::int16:
      return raw_as<std::int16_t, T>(name, start, count);
    case Type::int32:
      return raw_as<std::int32_t, T>(name, start, count);
    case Type::int64:
      return raw_as<std::int64_t, T>(name, start, count);
    case Type::float32:
      return raw_as<float, T>(name, start, count);
    case Type::float64:
      return raw_as<double, T>(name, start, count);
    }
    return {};
  }
  template <class Stored, class T>
  std::vector<T> raw_as(const std::string& name, const Sizes& start, const Sizes& count) const {
    std::size_t n = 1;
    for (const std::size_t c : count) n *= c;
    std::vector<Stored> values(n);
    nunatak::io::read_raw(*m_raw, name, start, count, reinterpret_cast<std::byte*>(values.data()));
    return std::vector<T>(values.begin(), values.end());
  }

  std::optional<nunatak::io::Reader> m_nc;
  std::optional<nunatak::io::RawFile> m_raw;
};
