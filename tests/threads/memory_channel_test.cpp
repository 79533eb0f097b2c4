// SPDX-License-Identifier: MIT
// Messages through pipes in shared memory, among ranks as threads.
#include "comm/transport/memory/memory_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "comm/transport/threads/thread_group.hpp"
#include "papfft/errors.hpp"

namespace papfft::comm {
namespace {

using Bytes = std::vector<std::byte>;

Bytes byte_ramp(std::size_t bytes, unsigned first) {
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(first + i * 7 + i / 251);
  return data;
}

void wait_for_all(Channel& channel, std::size_t messages) {
  std::vector<int> ended;
  while (ended.size() < messages) channel.poll(ended);
  std::ranges::sort(ended);
  EXPECT_EQ(std::ranges::adjacent_find(ended), ended.end()) << "a ticket was returned twice";
}

TEST(Pipe, KeepsTheBytesAcrossTheEndOfItsRing) {
  const auto pipe = std::make_unique<Pipe>();
  const Bytes data = byte_ramp(3 * Pipe::kBytes + 12345, 1);
  Bytes got;
  std::size_t written = 0;
  while (got.size() < data.size()) {
    written += pipe->write(std::span(data).subspan(written));
    EXPECT_LE(written - got.size(), Pipe::kBytes);
    const std::span<const std::byte> piece = pipe->readable();
    const std::size_t some = std::min<std::size_t>(piece.size(), 100003);
    got.insert(got.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(some));
    pipe->release(some);
  }
  EXPECT_EQ(got, data);
  EXPECT_TRUE(pipe->is_free(data.size()));
  EXPECT_TRUE(pipe->readable().empty());
}

TEST(Pipe, CopiesAcrossTheEndOfItsRing) {
  const auto pipe = std::make_unique<Pipe>();
  const Bytes data = byte_ramp(Pipe::kBytes + 8, 1);
  EXPECT_EQ(pipe->write(data), Pipe::kBytes);
  pipe->release(Pipe::kBytes - 5);
  EXPECT_EQ(pipe->write(std::span(data).last(8)), 8U);
  Bytes got(14);
  EXPECT_FALSE(pipe->copy(got)) << "there are but 13";
  got.resize(13);
  EXPECT_TRUE(pipe->copy(got));
  EXPECT_TRUE(std::ranges::equal(got, std::span(data).last(13)));
}

TEST(Letters, ComeInTheirOrderAndNoMoreThanThereIsRoomFor) {
  const auto counters = std::make_unique<Letters::Counters>();
  const auto cells = std::make_unique<std::array<Letters::Cell, Letters::kCells>>();
  Letters sender(*counters, cells->data());
  Letters receiver(*counters, cells->data());
  EXPECT_EQ(receiver.first(), nullptr);
  int put = 0;
  int got = 0;
  const auto put_all = [&] {
    const int before = put;
    while (sender.put({.bytes = 5, .tag = put}, byte_ramp(5, static_cast<unsigned>(put)))) ++put;
    return put - before;
  };
  const auto get_one = [&] {
    const Letters::Cell* const letter = receiver.first();
    ASSERT_NE(letter, nullptr);
    EXPECT_EQ(letter->head.tag, got);
    EXPECT_TRUE(
        std::ranges::equal(std::span(letter->bytes).first(5), byte_ramp(5, static_cast<unsigned>(got))));
    receiver.remove_first();
    ++got;
  };
  EXPECT_EQ(put_all(), static_cast<int>(Letters::kCells));
  for (int i = 0; i < 3; ++i) get_one();
  EXPECT_EQ(put_all(), 3);
  while (got < put) get_one();
  EXPECT_EQ(receiver.first(), nullptr);
}

/// Sizes about the limits of a pipe, in both directions at once, received in another order than sent.
TEST(MemoryChannel, DeliversMessagesOfEverySizeInAnyOrder) {
  const std::vector<std::size_t> sizes = {
      0, 1, 1023, 1024, 16384, Pipe::kBytes - 1, Pipe::kBytes, Pipe::kBytes + 1, 3 * Pipe::kBytes + 7, 5};
  for (const std::uint32_t seed : {0U, 5U}) {
    ThreadGroup(3, seed, {0, 0, 1}, 1024).run([&](Transport& transport) {
      const std::unique_ptr<Channel> channel = transport.open();
      std::vector<Bytes> out;
      std::vector<Bytes> in;
      std::vector<Rank> from;
      const int me = transport.rank();
      for (Rank peer = 0; peer < 3; ++peer) {
        for (std::size_t i = 0; peer != me && i < sizes.size(); ++i) {
          out.push_back(byte_ramp(sizes[i], static_cast<unsigned>(10 * me + peer)));
          in.emplace_back(sizes[i]);
          from.push_back(peer);
        }
      }
      for (std::size_t k = 0; k < out.size(); ++k) {
        const auto tag = static_cast<int>(k % sizes.size());
        (void)(k % 2 == 0 ? channel->isend(from[k], tag, out[k]) : channel->issend(from[k], tag, out[k]));
      }
      for (std::size_t k = in.size(); k-- > 0;) {
        (void)channel->irecv(from[k], static_cast<int>(k % sizes.size()), in[k]);
      }
      wait_for_all(*channel, 2 * in.size());
      for (std::size_t k = 0; k < in.size(); ++k) {
        EXPECT_EQ(in[k], byte_ramp(in[k].size(), static_cast<unsigned>(10 * from[k] + me))) << in[k].size();
      }
    });
  }
}

TEST(PipeSpeed, RestsWhileWritingIsDear) {
  const auto copy_ns = static_cast<std::int64_t>(copy_ns_per_byte() * 1e6);
  ASSERT_GT(copy_ns, 0);
  PipeSpeed speed;
  const auto trials_of = [&](int messages, std::int64_t ns) {
    int trials = 0;
    for (int i = 0; i < messages; ++i) {
      if (!speed.pays()) continue;
      ++trials;
      speed.wrote(1000000, ns);
    }
    return trials;
  };
  EXPECT_EQ(trials_of(100, 4 * copy_ns), 100);
  speed.wrote(1000000, 50 * copy_ns);
  EXPECT_TRUE(speed.pays()) << "it was interrupted once";
  EXPECT_EQ(trials_of(100, 4 * copy_ns), 100);
  EXPECT_EQ(trials_of(2 + 16 + 1 + 32 + 1 + 64, 50 * copy_ns), 4) << "after 16, 32 and 64 others";
  EXPECT_EQ(trials_of(100, 4 * copy_ns), 100) << "it pays again";
}

/// Collects pieces, and knows which messages came at once.
class Collector final : public Pieces {
 public:
  explicit Collector(std::size_t unit) : unit_(unit) {}
  [[nodiscard]] std::size_t unit_bytes() const override { return unit_; }
  void take(int key, std::size_t offset, std::span<const std::byte> piece) override {
    Bytes& data = by_pieces[key];
    EXPECT_EQ(offset, data.size());
    EXPECT_EQ(piece.size() % unit_, 0U);
    EXPECT_FALSE(piece.empty());
    data.insert(data.end(), piece.begin(), piece.end());
  }
  [[nodiscard]] std::span<std::byte> place(int key) override { return at_once[key]; }

  std::map<int, Bytes> by_pieces;
  std::map<int, Bytes> at_once;

 private:
  std::size_t unit_;
};

TEST(MemoryChannel, GivesPiecesOfWholeElements) {
  for (const std::size_t unit : {std::size_t{1}, std::size_t{8}, std::size_t{24}, std::size_t{50001}}) {
    const Bytes data = byte_ramp(unit * (2 * Pipe::kBytes / unit + 3), 9);
    ThreadGroup(2, 0, {}, 1024).run([&](Transport& transport) {
      const std::unique_ptr<Channel> channel = transport.open();
      if (transport.rank() == 0) {
        (void)channel->isend(1, 4, data);
        wait_for_all(*channel, 1);
      } else {
        Collector collector(unit);
        (void)channel->irecv_pieces(0, 4, data.size(), collector, 17);
        wait_for_all(*channel, 1);
        EXPECT_EQ(collector.by_pieces.at(17), data) << unit;
        EXPECT_TRUE(collector.at_once.empty());
      }
    });
  }
}

TEST(MemoryChannel, ASenderWithoutAFreePipeSendsAtOnce) {
  constexpr int kMessages = 2 * HostPipes::kPerRank;
  const Bytes data = byte_ramp(4096, 2);
  ThreadGroup(2, 0, {}, 1024).run([&](Transport& transport) {
    const std::unique_ptr<Channel> channel = transport.open();
    if (transport.rank() == 0) {
      for (int k = 0; k < kMessages; ++k) (void)channel->isend(1, k, data);
      Bytes go(1);
      (void)channel->isend(1, 100, go);
      wait_for_all(*channel, kMessages + 1);
    } else {
      Bytes go(1);
      (void)channel->irecv(0, 100, go);  // all are under way
      wait_for_all(*channel, 1);
      Collector collector(4);
      for (int k = 0; k < kMessages; ++k) {
        collector.at_once[k].resize(data.size());
        (void)channel->irecv_pieces(0, k, data.size(), collector, k);
      }
      wait_for_all(*channel, kMessages);
      EXPECT_EQ(collector.by_pieces.size(), static_cast<std::size_t>(HostPipes::kPerRank));
      for (int k = 0; k < kMessages; ++k) {
        EXPECT_EQ(collector.by_pieces.contains(k) ? collector.by_pieces[k] : collector.at_once[k], data) << k;
      }
    }
  });
}

/// Many more letters than there is room for; the receiver awaits the last one first, and another channel gets every other one.
TEST(MemoryChannel, LettersWaitForRoomAndForTheirReceivers) {
  constexpr int kMessages = 5 * static_cast<int>(Letters::kCells);
  for (const std::uint32_t seed : {0U, 3U}) {
    std::atomic<bool> is_full{false};
    ThreadGroup(2, seed, {}, 1024).run([&](Transport& transport) {
      const std::array channels = {transport.open(), transport.open()};
      const bool sends = transport.rank() == 0;
      std::vector<Bytes> data;
      for (int k = 0; k < kMessages; ++k)
        data.push_back(sends ? byte_ramp(900, static_cast<unsigned>(k)) : Bytes(900));
      if (sends) {
        for (int k = 0; k < kMessages; ++k)
          (void)channels.front()->isend(1, k, data[static_cast<std::size_t>(k)]);
        std::vector<int> ended;
        channels.front()->poll(ended);
        EXPECT_EQ(ended.size(), Letters::kCells) << "a send ends when its letter has left";
        is_full = true;
        wait_for_all(*channels.front(), kMessages - ended.size());
        return;
      }
      while (!is_full) std::this_thread::yield();
      for (int k = kMessages; k-- > 0;) {
        (void)channels.at(static_cast<std::size_t>(k % 2))->irecv(0, k, data[static_cast<std::size_t>(k)]);
        if (k == kMessages - 1) wait_for_all(*channels.back(), 1);
      }
      wait_for_all(*channels.front(), kMessages / 2);
      wait_for_all(*channels.back(), kMessages / 2 - 1);
      for (int k = 0; k < kMessages; ++k)
        EXPECT_EQ(data[static_cast<std::size_t>(k)], byte_ramp(900, static_cast<unsigned>(k))) << k;
    });
  }
}

TEST(MemoryChannel, ALetterThatWaitsForRoomIsNotOvertaken) {
  constexpr int kRoom = static_cast<int>(Letters::kCells);
  std::atomic<bool> is_full{false};
  std::atomic<bool> has_room{false};
  ThreadGroup(2, 0, {}, 1024).run([&](Transport& transport) {
    const std::unique_ptr<Channel> channel = transport.open();
    const bool sends = transport.rank() == 0;
    std::vector<Bytes> data;
    for (int k = 0; k < kRoom + 2; ++k)
      data.push_back(sends ? byte_ramp(10, static_cast<unsigned>(k)) : Bytes(10));
    const auto start = [&](int k) {
      Bytes& one = data[static_cast<std::size_t>(k)];
      (void)(sends ? channel->isend(1, 7, one) : channel->irecv(0, 7, one));
    };
    if (sends) {
      for (int k = 0; k <= kRoom; ++k) start(k);
      is_full = true;
      while (!has_room) std::this_thread::yield();
      start(kRoom + 1);
      wait_for_all(*channel, data.size());
      return;
    }
    while (!is_full) std::this_thread::yield();
    for (int k = 0; k < kRoom + 2; ++k) start(k);
    wait_for_all(*channel, Letters::kCells);
    has_room = true;
    wait_for_all(*channel, 2);
    for (int k = 0; k < kRoom + 2; ++k) {
      EXPECT_EQ(data[static_cast<std::size_t>(k)], byte_ramp(10, static_cast<unsigned>(k))) << k;
    }
  });
}

TEST(MemoryChannel, ALetterIsCombinedWhereItLies) {
  const Bytes data = byte_ramp(800, 5);
  ThreadGroup(2, 0, {}, 1024).run([&](Transport& transport) {
    const std::unique_ptr<Channel> channel = transport.open();
    Collector collector(8);
    (void)(transport.rank() == 0 ? channel->isend(1, 4, data)
                                 : channel->irecv_pieces(0, 4, data.size(), collector, 3));
    wait_for_all(*channel, 1);
    if (transport.rank() == 1) {
      EXPECT_EQ(collector.by_pieces.at(3), data);
    }
  });
}

/// As when many tasks go to one rank.
TEST(MemoryChannel, ManyMessagesOfOneTagComeInOrder) {
  constexpr int kMessages = 3 * HostPipes::kPerRank;
  for (const std::uint32_t seed : {0U, 4U}) {
    ThreadGroup(2, seed, {}, 1024).run([&](Transport& transport) {
      const std::unique_ptr<Channel> channel = transport.open();
      std::vector<Bytes> data;
      for (int k = 0; k < kMessages; ++k) {
        data.push_back(transport.rank() == 0 ? byte_ramp(200000, static_cast<unsigned>(k)) : Bytes(200000));
      }
      for (Bytes& one : data) {
        (void)(transport.rank() == 0 ? channel->isend(1, 7, one) : channel->irecv(0, 7, one));
      }
      wait_for_all(*channel, kMessages);
      for (int k = 0; k < kMessages; ++k) {
        EXPECT_EQ(data[static_cast<std::size_t>(k)], byte_ramp(200000, static_cast<unsigned>(k))) << k;
      }
    });
  }
}

/// For the pipes of two ranks.
std::shared_ptr<void> shared_memory() {
  const auto alignment = static_cast<std::align_val_t>(alignof(Pipe));
  std::shared_ptr<void> memory(::operator new(HostPipes::bytes_for(2), alignment),
                               [=](void* at) { ::operator delete(at, alignment); });
  HostPipes::prepare(memory.get(), 2);
  return memory;
}

/// A channel that outlives the one above it, as MPI's messages do.
class Shared final : public Channel {
 public:
  explicit Shared(Channel& channel) : channel_(channel) {}
  ~Shared() override {
    for (auto& memory : take_kept()) channel_.keep(std::move(memory));
  }
  int isend(Rank target, int tag, std::span<const std::byte> data) override {
    return channel_.isend(target, tag, data);
  }
  int issend(Rank target, int tag, std::span<const std::byte> data) override {
    return channel_.issend(target, tag, data);
  }
  int irecv(Rank source, int tag, std::span<std::byte> data) override {
    return channel_.irecv(source, tag, data);
  }
  bool poll(std::vector<int>& ended) override { return channel_.poll(ended); }

 private:
  Channel& channel_;
};

TEST(MemoryChannel, AnAbandonedSendMayBeTakenLater) {
  for (const std::size_t unit : {std::size_t{1}, std::size_t{12289}}) {
    const Bytes data = byte_ramp(3 * Pipe::kBytes / unit * unit, 3);
    std::atomic<bool> is_abandoned{false};
    std::atomic<bool> is_taken{false};
    const std::shared_ptr<void> memory = shared_memory();
    ThreadGroup(2).run([&](Transport& transport) {
      const auto pipes = std::make_shared<HostPipes>(memory, std::vector<int>{0, 1}, transport.rank(), 1024);
      const std::unique_ptr<Channel> below = transport.open();
      std::optional<MemoryChannel> channel(std::in_place, std::make_unique<Shared>(*below), pipes,
                                           transport.max_tag());
      if (transport.rank() == 0) {
        (void)channel->isend(1, 7, data);
        channel->keep(std::make_shared<int>());
        channel.reset();  // part of the message is in the pipe
        is_abandoned = true;
        while (!is_taken) std::this_thread::yield();
        return;
      }
      while (!is_abandoned) std::this_thread::yield();
      Bytes got(data.size());
      Collector collector(unit);
      (void)(unit == 1 ? channel->irecv(0, 7, got) : channel->irecv_pieces(0, 7, data.size(), collector, 1));
      wait_for_all(*channel, 1);
      EXPECT_EQ(unit == 1 ? got : collector.by_pieces.at(1), data);
      is_taken = true;
    });
  }
}

TEST(MemoryChannel, AbandonedLettersLeaveWhenThereIsRoom) {
  constexpr int kMessages = 3 * static_cast<int>(Letters::kCells);
  std::atomic<bool> is_abandoned{false};
  ThreadGroup(2, 0, {}, 1024).run([&](Transport& transport) {
    std::unique_ptr<Channel> channel = transport.open();
    Bytes word(1);
    if (transport.rank() == 0) {
      std::vector<Bytes> data;
      for (int k = 0; k < kMessages; ++k) data.push_back(byte_ramp(100, static_cast<unsigned>(k)));
      for (int k = 0; k < kMessages; ++k) (void)channel->isend(1, k, data[static_cast<std::size_t>(k)]);
      channel.reset();
      data.clear();
      is_abandoned = true;
      channel = transport.open();
      (void)channel->irecv(1, 0, word);  // whoever waits for anything posts what was left
      wait_for_all(*channel, 1);
      return;
    }
    while (!is_abandoned) std::this_thread::yield();
    for (int k = 0; k < kMessages; ++k) {
      Bytes got(100);
      (void)channel->irecv(0, k, got);
      wait_for_all(*channel, 1);
      EXPECT_EQ(got, byte_ramp(100, static_cast<unsigned>(k)));
    }
    (void)channel->isend(0, 0, word);
    wait_for_all(*channel, 1);
  });
}

TEST(MemoryChannel, AnAbandonedReceiveFreesThePipe) {
  const Bytes data = byte_ramp(3 * Pipe::kBytes, 3);
  const std::shared_ptr<void> memory = shared_memory();
  ThreadGroup(2).run([&](Transport& transport) {
    const auto pipes = std::make_shared<HostPipes>(memory, std::vector<int>{0, 1}, transport.rank(), 1024);
    MemoryChannel channel(transport.open(), pipes, transport.max_tag());
    if (transport.rank() == 0) {
      (void)channel.isend(1, 0, data);
      wait_for_all(channel, 1);  // the receiver takes but a part
      const auto is_free = [&] { return pipes->own(0).is_free(data.size()); };
      for (int ms = 0; ms < 20000 && !is_free(); ++ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(is_free());
      return;
    }
    Collector collector(1);
    (void)channel.irecv_pieces(0, 0, data.size(), collector, 0);
    std::vector<int> ended;
    while (collector.by_pieces.empty()) channel.poll(ended);
  });
}

TEST(MemoryChannel, AnElementLongerThanAPipeComesAtOnce) {
  const Bytes data = byte_ramp(2 * (Pipe::kBytes + 1), 3);
  ThreadGroup(2, 0, {}, 1024).run([&](Transport& transport) {
    const std::unique_ptr<Channel> channel = transport.open();
    Collector collector(Pipe::kBytes + 1);
    collector.at_once[0].resize(data.size());
    (void)(transport.rank() == 0 ? channel->isend(1, 4, data)
                                 : channel->irecv_pieces(0, 4, data.size(), collector, 0));
    wait_for_all(*channel, 1);
    if (transport.rank() == 1) {
      EXPECT_EQ(collector.at_once[0], data);
    }
  });
}

TEST(MemoryChannel, SaysWhenTheSizesDiffer) {
  const auto run = [] {
    ThreadGroup(2, 0, {}, 1024).run([](Transport& transport) {
      const std::unique_ptr<Channel> channel = transport.open();
      Bytes data(transport.rank() == 0 ? 5000 : 6000);
      (void)(transport.rank() == 0 ? channel->isend(1, 4, data) : channel->irecv(0, 4, data));
      wait_for_all(*channel, 1);
      if (transport.rank() == 0) wait_for_all(*channel, 1);  // until the other fails
    });
  };
  try {
    run();
    ADD_FAILURE() << "nothing thrown";
  } catch (const TransportError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("receiving 6000 bytes from rank 0: got 5000"));
  }
}

}  // namespace
}  // namespace papfft::comm
