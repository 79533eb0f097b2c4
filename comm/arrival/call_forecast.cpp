// SPDX-License-Identifier: MIT
#include "comm/arrival/call_forecast.hpp"

#include <stdexcept>
#include <typeinfo>
#include <utility>

namespace papfft::comm {

void CallForecast::note(const PlannedCall& plan, bool by_handle) {
  successors_[last_call_] = by_handle ? std::nullopt : std::optional(plan);
  last_call_ = plan.signature.text() + " " + plan.reducer;
}

const PlannedCall* CallForecast::next() const {
  const auto found = successors_.find(last_call_);
  return found == successors_.end() || !found->second ? nullptr : &*found->second;
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
