// io/layouts/auto.hpp: the length of a stripe of a file, and how stripes are dealt to the
// aggregators. No MPI.
#include "io/layouts/auto.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

using namespace nunatak::io;

TEST_CASE("the length of a stripe: what is asked for, else the file system's") {
  constexpr std::size_t page = 4096, KiB = 1024, MiB = 1024 * KiB;
  CHECK(stripe_of(100, 8 * MiB).bytes == 100);
  CHECK(stripe_of(0, page).bytes == MiB); // ext4, xfs, overlay, tmpfs
  CHECK(stripe_of(0).bytes == MiB);       // no answer
  CHECK(stripe_of(0, 64 * KiB - 1).bytes == MiB);
  CHECK(stripe_of(0, 64 * KiB).bytes == 64 * KiB);
  CHECK(stripe_of(0, 4 * MiB).bytes == 4 * MiB);          // the emulated cluster
  CHECK(stripe_of(0, std::size_t{1} << 40).bytes == MiB); // beyond what -io_stripe may be
  CHECK(stripe_of(0, 4 * MiB).text() == "stripes of 4194304 bytes (the file system's)");
  CHECK(stripe_of(100).text() == "stripes of 100 bytes (-io_stripe)");
  CHECK(stripe_of(0, page).text() == "stripes of 1048576 bytes (the default)");
}

TEST_CASE("all aggregators get as many whole stripes of a file, and equal pieces of its head") {
  constexpr std::uint64_t MiB = 1 << 20, KiB = 1 << 10;
  const auto is = [](const Deal& deal, std::uint64_t run, std::uint64_t head, std::uint64_t piece) {
    CHECK(deal.run == run);
    CHECK(deal.head == head);
    CHECK(deal.piece == piece);
  };
  is(deal_of(40 * MiB + 300 * KiB, 8, MiB), MiB, MiB,
     128 * KiB);                                  // 5 runs each; the head ends where a stripe does
  is(deal_of(40 * MiB, 8, MiB), MiB, 0, 4 * KiB); // no head
  is(deal_of(3 * MiB, 8, MiB), MiB, 3 * MiB, 384 * KiB);           // nothing else
  is(deal_of(800 * KiB, 8, MiB), MiB, MiB, 100 * KiB);             // shared out evenly
  is(deal_of(900 * MiB, 8, 4 * MiB), 4 * MiB, 4 * MiB, 512 * KiB); // long stripes
  is(deal_of(512 * MiB, 8, 100 * KiB), 1000 * KiB, 4 * MiB + 904 * KiB,
     628 * KiB); // short ones: ten are a run
  for (const std::uint64_t end : {1, 5000, 123456789}) {
    const Deal deal = deal_of(end, 3, 64 * KiB);
    std::uint64_t bytes[3] = {}, byte = 0;
    while (byte < end) {
      const Deal::Part part = deal.part_at(byte);
      CHECK(part.end > byte);
      CHECK((part.end <= deal.head || (part.end - deal.head) % deal.run == 0));
      bytes[part.aggregator] += std::min(end, part.end) - byte;
      byte = part.end;
    }
    const auto [least, most] = std::minmax_element(std::begin(bytes), std::end(bytes));
    CHECK(*most - *least <= deal.run + deal.piece);
  }
}
