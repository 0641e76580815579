// Ranks that serve during a part of a test case. For the tests of the transport async.
#pragma once

#include "io/write/servers.hpp"
#include "tests/io/scratch.hpp"

#include <functional>
#include <string>

/// f(comm) on the ranks that compute, while the others serve. Returns their status, else 0.
inline int with_servers(const std::string& transport, const std::function<void(MPI_Comm)>& f) {
  nunatak::io::Servers servers(MPI_COMM_WORLD, transport);
  if (servers.is_server()) return servers.serve();
  f(servers.comm());
  servers.stop(0);
  return 0;
}

/// f(writer, comm) on the ranks that compute: with servers, or all ranks. Returns as with_servers.
template <class F>
int compute(const std::string& transport, const std::string& method, const F& f) {
  return with_servers(transport, [&](MPI_Comm comm) {
    f(*writer_of(method + "/transport=" + transport, comm), comm);
  });
}

inline bool has_room_for(const std::string& transport) {
  return nunatak::io::parse_transport(transport) < size_of(MPI_COMM_WORLD);
}
