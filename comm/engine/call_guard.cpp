// SPDX-License-Identifier: MIT
#include "comm/engine/call_guard.hpp"

#include <bit>
#include <cmath>
#include <functional>

#include "comm/engine/call_engine.hpp"
#include "comm/engine/steady_clock.hpp"

namespace papfft::comm {

/// As it is added up over the ranks: whole numbers, so that all get the same sums in whatever order they are added.
struct CallGuard::Report {
  std::int64_t incumbent_ns = 0;
  std::int64_t challenger_ns = 0;
  std::int64_t overhead_ns = 0;
  std::int64_t have_started = 0;  // ranks that have started calls
};

namespace {

using Number = std::int64_t;
const ElementReducer<Number, std::plus<>>& sum() {
  static const ElementReducer<Number, std::plus<>> reducer({}, true);
  return reducer;
}

/// Sizes of one kind differ by up to a factor of 2; a time counts as that of the least.
std::int64_t as_of_least(std::int64_t ns, std::size_t bytes) {
  if (bytes == 0) return ns;
  return std::llround(static_cast<double>(ns) * static_cast<double>(std::bit_floor(bytes)) /
                      static_cast<double>(bytes));
}

}  // namespace

CallGuard::~CallGuard() = default;

CallGuard::Key CallGuard::key_of(const PlannedCall& plan) {
  return {plan.operation(), static_cast<unsigned>(std::bit_width(plan.signature.bytes))};
}

/// A rank in a call of the MPI library moves nothing on. If another rank waited for a started call before it came, both would wait
/// for ever. So a group that starts calls is left alone.
bool CallGuard::guards(const PlannedCall& plan) const {
  return plan.is_open && !rests_ && engine_.options().guard && engine_.transport().size() > 1;
}

bool CallGuard::is_stock_next(const PlannedCall& plan) const {
  if (!guards(plan)) return false;
  const auto found = kinds_.find(key_of(plan));
  return found != kinds_.end() && found->second.guard.turn().is_stock;
}

bool CallGuard::begin(const PlannedCall& plan) {
  current_ = guards(plan) ? &kinds_[key_of(plan)] : nullptr;
  if (current_ == nullptr) return false;
  const Guard::Turn turn = current_->guard.turn();
  if (turn.reports) begin_report();
  if (turn.is_timed) {
    bytes_ = plan.signature.bytes;
    began_ns_ = steady_now_ns();
  }
  return turn.is_stock;
}

void CallGuard::end() {
  if (current_ == nullptr) return;
  const Guard::Turn turn = current_->guard.turn();
  if (turn.is_timed) {
    (turn.is_challenger ? current_->challenger_ns : current_->incumbent_ns) =
        as_of_least(steady_now_ns() - began_ns_, bytes_);
  }
  if (turn.reports) {
    end_report();
  } else {
    current_->guard.call_ended();
  }
  current_ = nullptr;
}

void CallGuard::begin_report() {
  const std::int64_t from_ns = steady_now_ns();
  report_ = std::make_shared<Report>(Report{.incumbent_ns = current_->incumbent_ns,
                                            .challenger_ns = current_->challenger_ns,
                                            .overhead_ns = current_->overhead_ns,
                                            .have_started = engine_.has_started() ? 1 : 0});
  pending_ = engine_.start_report(std::as_writable_bytes(std::span(report_.get(), 1)), sum(), report_);
  current_->overhead_ns = steady_now_ns() - from_ns;
}

void CallGuard::end_report() {
  const std::int64_t from_ns = steady_now_ns();
  engine_.wait_for_pending([this] { return pending_->done(); });
  current_->overhead_ns += steady_now_ns() - from_ns;
  current_->guard.call_ended({report_->incumbent_ns, report_->challenger_ns, report_->overhead_ns});
  rests_ = report_->have_started > 0;
  engine_.release(std::exchange(pending_, nullptr));
  report_.reset();
}

std::vector<GuardedCalls> CallGuard::statistics() const {
  std::vector<GuardedCalls> all;
  for (const auto& [key, kind] : kinds_) {
    const auto& [operation, bits] = key;
    all.push_back({.operation = operation,
                   .from_bytes = bits == 0 ? 0 : std::size_t{1} << (bits - 1),
                   .calls = kind.guard.calls(),
                   .trials = kind.guard.pairs(),
                   .changes = kind.guard.changes(),
                   .is_stock = !rests_ && kind.guard.is_stock_in_use()});
  }
  return all;
}

}  // namespace papfft::comm
