// Base class of layouts: passes every call to an inner Format, except what the layout overrides.
#pragma once

#include "io/formats/format.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::io {

class FormatAround : public Format {
public:
  void use_disk_caller(const DiskCaller& call_disk) override {
    m_inner->use_disk_caller(call_disk);
  }
  std::uint64_t defined_size() const override { return m_inner->defined_size(); }
  void define() override { m_inner->define(); }
  void put(std::size_t v, const Hyperslab& slab) override { m_inner->put(v, slab); }
  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_inner->expected_size(records);
  }
  std::optional<std::uint64_t> first_byte(std::size_t v) const override {
    return m_inner->first_byte(v);
  }
  void wait() override { m_inner->wait(); }
  void flush() override { m_inner->flush(); }
  void close() override { m_inner->close(); }
  bool grows_in_place() const override { return m_inner->grows_in_place(); }
  void flush_values() override { m_inner->flush_values(); }
  void count_records() override { m_inner->count_records(); }
  Reopened reopen(const std::string& path, std::uint64_t records) override {
    return m_inner->reopen(path, records);
  }
  Sums own_sums(std::size_t records) const override { return m_inner->own_sums(records); }
  Work work() const override { return m_inner->work(); }
  std::map<std::string, std::string> hints() const override { return m_inner->hints(); }
  std::vector<OutputFile> files() const override { return m_inner->files(); }

protected:
  explicit FormatAround(std::unique_ptr<Format> inner) : m_inner(std::move(inner)) {}
  const std::unique_ptr<Format> m_inner;
};

} // namespace nunatak::io
