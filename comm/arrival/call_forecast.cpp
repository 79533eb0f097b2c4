// SPDX-License-Identifier: MIT
#include "comm/arrival/call_forecast.hpp"

#include <algorithm>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include "comm/arrival/decision_board.hpp"

namespace papfft::comm {

/// A program that repeats itself makes the call that is expected: then nothing is looked up.
std::size_t CallForecast::place_of(const PlannedCall& plan) {
  if (const std::size_t expected = last_ != kNone ? places_[last_].after : kNone; expected != kNone) {
    const PlannedCall& known = *places_[expected].plan;
    if (known.signature == plan.signature && known.reducer == plan.reducer) return expected;
  }
  const std::string call = plan.signature.text() + " " + plan.reducer;
  if (const auto found = place_by_call_.find(call); found != place_by_call_.end()) return found->second;
  if (places_.size() >= kMostCalls) return kNone;
  place_by_call_.emplace(call, places_.size());
  places_.emplace_back();
  return places_.size() - 1;
}

void CallForecast::note(const std::shared_ptr<const PlannedCall>& plan, bool by_handle) {
  const std::size_t place = place_of(*plan);
  if (last_ != kNone) {
    places_[last_].after = place;
    places_[last_].is_after_by_handle = by_handle;
  }
  if (place != kNone) places_[place].plan = plan;
  last_ = place;
}

std::int32_t CallForecast::position() const {
  // Number 0 is that of the beginning, before any call.
  return static_cast<std::int32_t>(last_ == kNone ? kPositions - 1
                                                  : std::min<std::size_t>(last_ + 1, kPositions - 1));
}

std::shared_ptr<const PlannedCall> CallForecast::next() const {
  if (last_ == kNone || places_[last_].after == kNone || places_[last_].is_after_by_handle) return nullptr;
  return places_[places_[last_].after].plan;
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
