// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

/// What a rank has to do with each other rank in a receiver-driven exchange. Slots of the first range of a and of the second of b meet
/// chunk by chunk, so all ranges of all ranks have equally many.
struct CreditParts {
  std::function<BlockRange(Rank source)> asked_of;  ///< where that lands which this rank asks of another
  std::function<BlockRange(Rank target)> given_to;  ///< what another one asks of this rank
  OpKind receive = OpKind::recv;  ///< recv_combine: all is added up, in the order in which it comes
};

/// Any number from 1 does; this one is for the simulator, and the executor finds out (CreditWindow).
inline constexpr int kExchangeCredits = 4;

/// The shape of a request whose schedule has such an exchange. @param segments  as shape_of
[[nodiscard]] Shape credit_shape(const Request& request, int segments);

/// Appends one rank's part of an exchange in which arrivals are observed: a rank tells all others that it has come, and each asks it
/// for its chunks when it is its turn. So whoever comes early is served early, whoever is late holds up nobody, and no more chunks are
/// on their way to a rank than it has asked for, however many ranks come together. Nobody has to predict anything.
void add_credit_exchange(RankBuilder& builder, Rank rank, const CreditParts& parts);

/// Appends one rank's part of a reduce-scatter of a vector in as many equal pieces as there are ranks: rank r sums up piece r, in the
/// order in which the others come. @return the slots of a rank's piece
[[nodiscard]] BlockRange piece_of(const Shape& shape, Rank owner);
void add_credit_sums(RankBuilder& builder, Rank rank);

}  // namespace papfft::comm
