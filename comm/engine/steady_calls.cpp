// SPDX-License-Identifier: MIT
#include "comm/engine/steady_calls.hpp"

#include <algorithm>

namespace papfft::comm {

bool SteadyCalls::is_same(const Entry& entry, const CallArguments& b) {
  const CallArguments& a = entry.arguments;
  return a.operation == b.operation && a.bytes == b.bytes && a.element_bytes == b.element_bytes &&
         a.root == b.root && entry.algorithm == b.algorithm &&
         std::ranges::equal(entry.block_bytes, b.block_bytes) &&
         std::ranges::equal(entry.recv_block_bytes, b.recv_block_bytes) && a.send.size() == b.send.size() &&
         a.recv.size() == b.recv.size() && (a.send.data() == nullptr) == (b.send.data() == nullptr) &&
         (a.recv.data() == nullptr) == (b.recv.data() == nullptr) &&
         (a.reducer == nullptr) == (b.reducer == nullptr) &&
         (b.reducer == nullptr ||
          (entry.is_ordered == !b.reducer->commutative() && entry.is_stock == b.reducer->is_stock() &&
           // Of a plan that may begin early; the name takes memory.
           (entry.call.plan->reducer.empty() || entry.call.plan->reducer == b.reducer->name())));
}

std::shared_ptr<SteadyCall> SteadyCalls::find(const CallPlanner& planner, const CallArguments& arguments,
                                              bool waits) {
  const auto found = std::ranges::find_if(
      entries_, [&](const auto& entry) { return entry->waits == waits && is_same(*entry, arguments); });
  if (found != entries_.end()) {
    (*found)->used = ++clock_;
    return {*found, &(*found)->call};
  }
  auto entry = std::make_shared<Entry>();
  entry->call.plan = std::make_shared<const PlannedCall>(planner.plan(arguments, waits));
  entry->waits = waits;
  entry->arguments = arguments;
  entry->arguments.algorithm = {};
  entry->arguments.block_bytes = {};
  entry->arguments.recv_block_bytes = {};
  entry->arguments.copies = nullptr;
  entry->algorithm = arguments.algorithm;
  entry->block_bytes.assign(arguments.block_bytes.begin(), arguments.block_bytes.end());
  entry->recv_block_bytes.assign(arguments.recv_block_bytes.begin(), arguments.recv_block_bytes.end());
  if (arguments.reducer != nullptr) {
    entry->is_ordered = !arguments.reducer->commutative();
    entry->is_stock = arguments.reducer->is_stock();
  }
  entry->used = ++clock_;
  std::shared_ptr<Entry>& place =
      entries_.size() < kMost
          ? entries_.emplace_back()
          : *std::ranges::min_element(entries_, {}, [](const auto& e) { return e->used; });
  place = std::move(entry);
  return {place, &place->call};
}

std::shared_ptr<SteadyCall> SteadyCalls::holder_of(const PlannedCall& plan) const {
  const auto found =
      std::ranges::find(entries_, &plan, [](const auto& entry) { return entry->call.plan.get(); });
  if (found == entries_.end()) return nullptr;
  return {*found, &(*found)->call};
}

}  // namespace papfft::comm
