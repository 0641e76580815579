// perf/cluster/extent_locks.hpp: when a lock is granted, how far it grows, and what is called back.
#include "perf/cluster/extent_locks.hpp"
#include "perf/cluster/striped_servers.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cluster;

namespace {

constexpr std::uint64_t page = 4096, end = Extent::no_end;

struct LockServer {
  LockTable table;
  std::uint64_t number = 0;

  LockTable::Answer ask(int client, Extent pages, Mode mode = Mode::write,
                        std::uint64_t object = 1) {
    return table.ask({client, ++number, object, mode, {pages.begin * page, pages.end * page}});
  }
  Extent granted(int client, Extent pages, Mode mode = Mode::write) {
    const LockTable::Answer answer = ask(client, pages, mode);
    REQUIRE(answer.granted.size() == 1);
    CHECK(answer.called_back.empty());
    return answer.granted[0].extent;
  }
};

/// The extent {begin, end}.
bool is(const Extent& a, const Extent& b) { return a.begin == b.begin && a.end == b.end; }

} // namespace

TEST_CASE("a lock grows over the whole object, if no other client has one") {
  LockServer server;
  CHECK(is(server.granted(1, {3, 4}), Extent{0, end}));
  CHECK(
      is(server.ask(2, {0, 1}, Mode::write, 2).granted[0].extent, Extent{0, end})); // other object
}

TEST_CASE("a conflict is called back once; the lock after it grows upwards only") {
  LockServer server;
  server.ask(1, {0, 1});
  const LockTable::Answer asked = server.ask(2, {5, 6});
  CHECK(asked.granted.empty());
  REQUIRE(asked.called_back.size() == 1);
  CHECK((asked.called_back[0].client == 1 && asked.called_back[0].number == 1));
  CHECK(server.ask(3, {7, 8}).called_back.empty()); // called back already
  const LockTable::Answer after = server.table.cancel(1, 1, 1);
  REQUIRE(after.granted.size() == 2);
  CHECK(is(after.granted[0].extent, Extent{5 * page, 7 * page})); // up to the next request
  CHECK(is(after.granted[1].extent, Extent{7 * page, end}));
  CHECK(is(server.granted(1, {0, 1}), Extent{0, 5 * page})); // what is left below
}

TEST_CASE("read locks share bytes with each other and not with a write lock") {
  LockServer server;
  CHECK(is(server.granted(1, {0, 1}, Mode::read), Extent{0, end}));
  CHECK(is(server.granted(2, {0, 1}, Mode::read), Extent{0, end}));
  CHECK(server.ask(3, {0, 1}).called_back.size() == 2);
  CHECK(server.table.cancel(1, 1, 1).granted.empty());
  CHECK(server.ask(1, {0, 1}, Mode::read).granted.empty()); // behind the writer
  const LockTable::Answer after = server.table.cancel(2, 1, 2);
  REQUIRE(after.granted.size() == 1);
  CHECK(after.granted[0].client == 3);
  REQUIRE(after.called_back.size() == 1); // for the reader behind it
  CHECK(after.called_back[0].client == 3);
}

TEST_CASE("where more than 32 locks stand against it a lock grows by 32 MiB at most") {
  LockServer server;
  server.ask(0, {0, 1});
  for (int client = 1; client <= 33; ++client) {
    const auto at = std::uint64_t{100000} + static_cast<std::uint64_t>(client);
    CHECK(server.ask(client, {at, at + 1}).granted.empty());
  }
  CHECK(server.table.cancel(0, 1, 1).granted.size() == 33);
  CHECK(is(server.granted(34, {2, 3}), Extent{2 * page, 2 * page + LockTable::most_grown}));
}

TEST_CASE("locks of a client that has gone are free") {
  LockServer server;
  server.ask(1, {0, 1});
  server.ask(2, {0, 1});
  const LockTable::Answer answer = server.table.forget(1);
  REQUIRE(answer.granted.size() == 1);
  CHECK(answer.granted[0].client == 2);
}

TEST_CASE("what a client that has gone had kept waiting calls back the next holder") {
  LockServer server;
  server.ask(1, {0, 1});
  server.ask(2, {0, 1});
  server.ask(3, {0, 1});
  const LockTable::Answer answer = server.table.forget(1);
  REQUIRE(answer.granted.size() == 1);
  REQUIRE(answer.called_back.size() == 1); // for client 3, which would wait without end
  CHECK(answer.called_back[0].client == 2);
}

TEST_CASE("an object is as large as the stripes of its file that it has") {
  constexpr std::uint64_t stripe = 10, servers = 3, file = 7;
  for (std::uint64_t size = 0; size <= 100; ++size) {
    std::uint64_t end_of[servers] = {};
    for_each_piece(file, {0, size}, stripe, servers,
                   [&](const Piece& piece) { end_of[piece.server] = piece.extent.end; });
    for (std::uint64_t s = 0; s < servers; ++s)
      CHECK(size_of_object(file, size, stripe, servers, s) == end_of[s]);
  }
}
