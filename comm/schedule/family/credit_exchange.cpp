// SPDX-License-Identifier: MIT
#include "comm/schedule/family/credit_exchange.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace papfft::comm {

namespace {

/// How many chunks a rank may have asked one other for at a time: where there are as many others as credits, one. For a rank that is
/// busy with others would hold all credits, while the rest wait to be asked.
int chunks_ahead(int ranks) { return std::max(1, kExchangeCredits / std::max(1, ranks - 1)); }

/// Messages from one rank to another come in the same order at both: that it has come, its grants, its chunks. All grants stand before
/// all chunks in a program, so that a grant goes out before the chunks that wait at the same port. Chunk 0 of all stands before chunk
/// 1 of any, so that those who wait for the sum of a chunk have it early.
class CreditExchange {
 public:
  CreditExchange(RankBuilder& builder, Rank rank, const CreditParts& parts)
      : builder_(builder), rank_(rank), parts_(parts), peers_(static_cast<std::size_t>(ranks())) {}

  void add() {
    for (const Rank r : others())
      at(r).told = builder_.add({.kind = OpKind::send, .announces = true, .peer = r});
    for (const Rank r : others()) at(r).heard = builder_.recv(r, {});
    for (const Rank r : others()) take_grants(r);
    for (const Rank r : others()) ask(r);
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      for (const Rank r : others()) answer(r, chunk);
    }
  }

 private:
  struct Peer {
    int told = -1;
    int heard = -1;
    int given = -1;                 // the last chunk
    std::vector<int> granted = {};  // by the peer, per chunk
  };

  [[nodiscard]] int ranks() const { return builder_.shape().ranks; }
  Peer& at(Rank r) { return peers_[static_cast<std::size_t>(r)]; }
  /// From the next rank around to the one before.
  [[nodiscard]] std::vector<Rank> others() const {
    std::vector<Rank> result;
    for (int step = 1; step < ranks(); ++step) result.push_back((rank_ + step) % ranks());
    return result;
  }

  void take_grants(Rank target) {
    chunks_ = parts_.given_to(target).count();
    int previous = at(target).told;
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      previous = builder_.recv(target, {}, chunk, {previous});
      at(target).granted.push_back(previous);
    }
  }

  void ask(Rank source) {
    const int first = parts_.asked_of(source).first;
    const int ahead = chunks_ahead(ranks());
    std::vector<int> received;
    int previous = at(source).heard;
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      // Posted before its grant goes out, so that the chunk lands where it belongs.
      received.push_back(builder_.add({.kind = parts_.receive,
                                       .credit = Credit::give,
                                       .peer = source,
                                       .blocks = {first + chunk, first + chunk + 1},
                                       .round = chunk},
                                      {previous}));
      const int before = chunk < ahead ? previous : received[static_cast<std::size_t>(chunk - ahead)];
      previous = builder_.add({.kind = OpKind::send, .credit = Credit::take, .peer = source, .round = chunk},
                              {before});
    }
  }

  void answer(Rank target, int chunk) {
    Peer& peer = at(target);
    const int first = parts_.given_to(target).first;
    const int granted = peer.granted[static_cast<std::size_t>(chunk)];
    peer.given = builder_.send(target, {first + chunk, first + chunk + 1}, chunk, {peer.given, granted});
  }

  RankBuilder& builder_;
  Rank rank_;
  const CreditParts& parts_;
  std::vector<Peer> peers_;
  int chunks_ = 0;
};

}  // namespace

Shape credit_shape(const Request& request, int segments) {
  Shape shape = shape_of(request, segments);
  shape.credits = kExchangeCredits;
  return shape;
}

void add_credit_exchange(RankBuilder& builder, Rank rank, const CreditParts& parts) {
  CreditExchange(builder, rank, parts).add();
}

BlockRange piece_of(const Shape& shape, Rank owner) {
  const int slots = shape.blocks() / shape.ranks;
  return {owner * slots, (owner + 1) * slots};
}

void add_credit_sums(RankBuilder& builder, Rank rank) {
  add_credit_exchange(builder, rank,
                      {.asked_of = [&](Rank) { return piece_of(builder.shape(), rank); },
                       .given_to = [&](Rank target) { return piece_of(builder.shape(), target); },
                       .receive = OpKind::recv_combine});
}

}  // namespace papfft::comm
