// SPDX-License-Identifier: MIT
#include "comm/arrival/call_forecast.hpp"

#include <algorithm>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include "comm/arrival/decision_board.hpp"

namespace papfft::comm {

void CallForecast::note(const PlannedCall& plan, bool by_handle) {
  if (const auto before = places_.find(last_call_); before != places_.end()) {
    before->second.successor = by_handle ? std::nullopt : std::optional(plan);
  }
  last_call_ = plan.signature.text() + " " + plan.reducer;
  if (places_.size() < kMostCalls) {
    // Number 0 is that of the beginning, before any call.
    const auto number = static_cast<std::int32_t>(std::min<std::size_t>(places_.size() + 1, kPositions - 1));
    places_.try_emplace(last_call_, Place{.position = number});
  }
}

std::int32_t CallForecast::position() const {
  const auto found = places_.find(last_call_);
  return found == places_.end() ? kPositions - 1 : found->second.position;
}

const PlannedCall* CallForecast::next() const {
  const auto found = places_.find(last_call_);
  return found == places_.end() || !found->second.successor ? nullptr : &*found->second.successor;
}

void CallForecast::keep(const PlannedCall& plan, const Reducer* given) {
  if (plan.reducer.empty() || given == nullptr || reducers_.contains(plan.reducer)) return;
  if (auto copy = given->clone()) reducers_.emplace(plan.reducer, std::move(copy));
}

const Reducer* CallForecast::kept(const std::string& name) const {
  const auto found = reducers_.find(name);
  return found == reducers_.end() ? nullptr : found->second.get();
}

void CallForecast::require_same(const std::string& name, const Reducer& given) const {
  const Reducer* const own = kept(name);
  if (own == nullptr || typeid(*own) == typeid(given)) return;
  throw std::invalid_argument(std::string("reduce: two operations of one name, ") + typeid(given).name() +
                              ", in the background of one Session");
}

}  // namespace papfft::comm
