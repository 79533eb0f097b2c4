// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::comm {
namespace {

using Bytes = std::vector<std::byte>;

void wait_for_one(Channel& channel) {
  std::vector<int> ended;
  while (ended.empty()) channel.poll(ended);
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

TEST(MpiTransport, AnAbandonedSendMayBeTakenLater) {
  std::optional<MpiTransport> transport(MPI_COMM_WORLD);
  const int me = transport->rank();
  constexpr std::size_t kRendezvous = std::size_t{1} << 22U;
  std::weak_ptr<Bytes> sent;
  if (me == 0 && transport->size() > 1) {
    auto memory = std::make_shared<Bytes>(kRendezvous, std::byte{42});
    const std::unique_ptr<Channel> channel = transport->open();
    (void)channel->isend(1, 7, *memory);
    channel->keep(memory);
    sent = memory;
  }
  if (me == 0 && transport->size() > 1) {
    EXPECT_FALSE(sent.expired()) << "nobody has taken it, so MPI still reads it";
  }
  // Were it freed, this would be where it was.
  const Bytes other(kRendezvous, std::byte{13});
  barrier();
  if (me == 1) {
    Bytes got(kRendezvous);
    const std::unique_ptr<Channel> channel = transport->open();
    (void)channel->irecv(0, 7, got);
    wait_for_one(*channel);
    EXPECT_EQ(std::ranges::count(got, std::byte{42}), static_cast<std::ptrdiff_t>(got.size()));
  }
  barrier();
  transport.reset();
  EXPECT_TRUE(sent.expired()) << "it has ended, and is kept no longer";
}

/// All that others could find of ours is in our memory map: no file of ours has a name.
bool maps_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:papfft (deleted)") != std::string::npos) return true;
  }
  return false;
}

TEST(MpiTransport, RanksOfAHostShareMemoryIfAllWantAndEachHasACore) {
  const auto has_pipes = [](bool share) { return MpiTransport(MPI_COMM_WORLD, share).has_pipes(); };
  const MpiTransport plain(MPI_COMM_WORLD, false);
  const bool can = plain.ranks_on_host() > 1 && !plain.is_crowded();
  EXPECT_EQ(has_pipes(true), can);
  EXPECT_FALSE(has_pipes(plain.rank() > 0)) << "rank 0 does not want it";
  EXPECT_FALSE(maps_shared_memory()) << "the last transport has gone";
  const MpiTransport sharing(MPI_COMM_WORLD, true);
  EXPECT_EQ(maps_shared_memory(), can);
}

/// Without that, rank 0 would wait for ever in MPI_Send for a receiver that waits for rank 0.
TEST(MpiTransport, ARankThatWaitsMovesOnWhatElseItHasUnderWay) {
  MpiTransport transport(MPI_COMM_WORLD);
  const int me = transport.rank();
  if (transport.size() > 1 && me < 2) {
    constexpr int kRendezvous = 1 << 22;
    Bytes word(1);
    Bytes data(kRendezvous, me == 0 ? std::byte{5} : std::byte{0});
    const std::unique_ptr<Channel> channel = transport.open();
    if (me == 0) {
      MPI_Send(data.data(), kRendezvous, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
      (void)channel->isend(1, 3, word);
      wait_for_one(*channel);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(data.data(), kRendezvous, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
      (void)channel->irecv(0, 3, word);
      wait_for_one(*channel);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(std::ranges::count(data, std::byte{5}), kRendezvous);
    }
  }
  barrier();
}

TEST(MpiTransport, AnAnsweredSendEndsWhenItIsReceived) {
  MpiTransport transport(MPI_COMM_WORLD);
  const int me = transport.rank();
  const bool pair = transport.size() > 1 && me < 2;
  Bytes data(1000, me == 0 ? std::byte{7} : std::byte{0});  // which MPI would buffer
  const std::unique_ptr<Channel> channel = transport.open();
  std::vector<int> ended;
  if (pair && me == 0) {
    (void)channel->issend(1, 3, data);
    for (int i = 0; i < 1000; ++i) channel->poll(ended);
    EXPECT_TRUE(ended.empty()) << "nobody has received it";
  }
  barrier();
  if (pair && me == 1) (void)channel->irecv(0, 3, data);
  if (pair) {
    while (ended.empty()) channel->poll(ended);
    EXPECT_EQ(data.back(), std::byte{7});
  }
  barrier();
}

TEST(MpiTransport, AnAbandonedReceiveTakesNothing) {
  MpiTransport transport(MPI_COMM_WORLD);
  const int me = transport.rank();
  const bool pair = transport.size() > 1 && me < 2;
  Bytes lost(64, std::byte{1});
  if (pair && me == 1) {
    const std::unique_ptr<Channel> channel = transport.open();
    (void)channel->irecv(0, 3, lost);
  }
  barrier();
  if (pair) {
    const std::unique_ptr<Channel> channel = transport.open();
    Bytes data(64, std::byte{5});
    (void)(me == 0 ? channel->isend(1, 3, data) : channel->irecv(0, 3, data));
    wait_for_one(*channel);
    EXPECT_EQ(data.back(), std::byte{5});
  }
  EXPECT_EQ(std::ranges::count(lost, std::byte{1}), 64);
  barrier();
}

}  // namespace
}  // namespace papfft::comm
