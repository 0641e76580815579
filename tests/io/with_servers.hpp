// Ranks that serve during a part of a test case. For the tests of the transport async.
#pragma once

#include "io/write/servers.hpp"
#include "tests/io/scratch.hpp"

#include <string>

/// f(writer, comm) on the ranks that compute, all or while others serve: returns their status.
template <class F>
int compute(const std::string& transport, const std::string& method, const F& f) {
  nunatak::io::Servers servers(MPI_COMM_WORLD, transport);
  if (servers.is_server()) return servers.serve();
  f(*writer_of(method + "/transport=" + transport, servers.comm()), servers.comm());
  servers.stop(0);
  return 0;
}

inline bool has_room_for(const std::string& transport) {
  return nunatak::io::parse_transport(transport) < size_of(MPI_COMM_WORLD);
}
