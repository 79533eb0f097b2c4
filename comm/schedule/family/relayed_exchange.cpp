// SPDX-License-Identifier: MIT
#include "comm/schedule/family/relayed_exchange.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/pair_blocks.hpp"

namespace papfft::comm {

namespace {

/// Every round has scratch slots for what is sent and for what is received.
Shape relay_shape(const Request& request, const std::vector<RelayRound>& rounds) {
  Shape shape = shape_of(request);
  shape.single_port = true;
  for (const RelayRound& round : rounds) {
    for (std::size_t block = 0; block < 2 * round.distances.size(); ++block) {
      for (int s = 0; s < shape.segments; ++s) shape.scratch.push_back(s);
    }
  }
  return shape;
}

class Relay {
 public:
  Relay(Shape shape, Rank rank)
      : builder_(std::move(shape), rank), rank_(rank), free_(builder_.shape().blocks()) {
    for (int d = 0; d < ranks(); ++d) at_.push_back(block_for(builder_.shape(), (rank + d) % ranks()));
  }

  void add(const RelayRound& round, int number) {
    const int blocks = static_cast<int>(round.distances.size());
    const BlockRange packed = take_scratch(blocks);
    const BlockRange landed = take_scratch(blocks);
    int place = packed.first;
    for (const int d : round.distances) {
      copy(at_[idx(d)], place, number);
      place += segments();
    }
    builder_.send((rank_ + round.skip) % ranks(), packed, number);
    builder_.recv((rank_ - round.skip + ranks()) % ranks(), landed, number);
    place = landed.first;
    for (const int d : round.distances) {
      at_[idx(d)] = {place, place + segments()};
      place += segments();
    }
  }

  RankSchedule finish(int round) {
    for (int d = 1; d < ranks(); ++d) {
      copy(at_[idx(d)], block_from(builder_.shape(), (rank_ - d + ranks()) % ranks()).first, round);
    }
    return builder_.take_part();
  }

 private:
  [[nodiscard]] int ranks() const { return builder_.shape().ranks; }
  [[nodiscard]] int segments() const { return builder_.shape().segments; }
  BlockRange take_scratch(int blocks) {
    const int first = free_;
    free_ += blocks * segments();
    return {first, free_};
  }
  void copy(BlockRange from, int to, int round) { builder_.copy(from.first, {to, to + segments()}, round); }

  RankBuilder builder_;
  Rank rank_;
  int free_;                    // the first scratch slot that is not used yet
  std::vector<BlockRange> at_;  // by distance: where this rank has its block
};

}  // namespace

RankSchedule relayed_exchange(const Request& request, Rank rank, const std::vector<RelayRound>& rounds) {
  Relay relay(relay_shape(request, rounds), rank);
  for (std::size_t i = 0; i < rounds.size(); ++i) relay.add(rounds[i], static_cast<int>(i));
  return relay.finish(static_cast<int>(rounds.size()));
}

}  // namespace papfft::comm
