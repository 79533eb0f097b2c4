// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

struct Algorithm;
struct Request;

/// A way to make a schedule that knows hosts out of an algorithm that does not. Its name stands behind the algorithm's:
/// "circulant@hosts". Where every rank is alone on its host the result is the algorithm's own schedule.
struct Composition {
  std::string_view name;
  std::string_view summary;    ///< one line
  bool among_leaders = false;  ///< the algorithm runs among one rank per host, not among all
  bool in_lanes = false;       ///< so it does, but several times at once, each time on a share of the data
  bool (*serves)(const Algorithm& flat) = nullptr;
  RankSchedule (*local)(const Algorithm& flat, const Request& request, Rank rank) = nullptr;
};

/// All there are; each is defined in a file of its own in comm/schedule/hosts/.
[[nodiscard]] std::span<const Composition* const> compositions();

/// Several ranks that pass blocks on to each other as if they were one: one leader per host runs the flat algorithm.
extern const Composition kAmongLeaders;
/// Where every host has n ranks or more, n times as many leaders: the i-th ones of all hosts run the flat algorithm on the i-th share.
extern const Composition kInLanes;
/// The flat algorithm with its ranks renamed, so that those of one host are neighbours.
extern const Composition kByHost;

}  // namespace papfft::comm
