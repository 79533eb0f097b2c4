// SPDX-License-Identifier: MIT
#include "app/run/arrivals.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "comm/choose/select.hpp"

namespace papfft::app {

namespace {

void sleep_ns(std::int64_t ns) {
  if (ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}

/// Whether a session can make a difference to an operation that so many vectors need.
bool session_helps(comm::Operation operation, const std::string& name, std::uint64_t vectors) {
  const comm::Choice choice = comm::choose(operation, name, 2, 0, false);
  if (choice.algorithm == nullptr) return false;
  if (name == "auto") return vectors > 1;
  return choice.background || choice.algorithm->uses_arrival;
}

/// A rank's statistics, or those of several put together.
struct RankArrivals {
  std::int64_t begun_early = 0;
  std::int64_t predicted = 0;
  std::int64_t error_ns = 0;  // summed over the predictions
  double thread_share = 0;

  friend RankArrivals operator+(const RankArrivals& a, const RankArrivals& b) {
    return {std::max(a.begun_early, b.begun_early), a.predicted + b.predicted, a.error_ns + b.error_ns,
            std::max(a.thread_share, b.thread_share)};
  }
};

}  // namespace

ComputeWatch::ComputeWatch(comm::Session* session, double edge, Delay delay, comm::Recorder* recorder)
    : session_(session), edge_(edge), delay_(std::move(delay)), recorder_(recorder) {}

void ComputeWatch::compute_begins() {
  past_edge_ = false;
  if (recorder_ != nullptr) begin_ = std::chrono::steady_clock::now();
  if (session_ != nullptr) session_->processing_start();
  if (!delay_) return;
  const std::int64_t delay_ns = delay_(vector_++);
  const std::int64_t first_ns = std::llround(static_cast<double>(delay_ns) * edge_);
  rest_ns_ = delay_ns - first_ns;
  sleep_ns(first_ns);
}

void ComputeWatch::compute_reaches(double fraction) {
  if ((session_ == nullptr && recorder_ == nullptr) || fraction < edge_ || past_edge_.exchange(true)) return;
  if (recorder_ != nullptr) recorder_->instant("edge");
  if (session_ == nullptr) return;
  // The other part of a delay is still to come, however much is computed already.
  session_->edge(rest_ns_ > 0 ? edge_ : fraction);
}

void ComputeWatch::compute_ends() {
  sleep_ns(rest_ns_);
  if (session_ != nullptr) session_->processing_end();
  if (recorder_ != nullptr) recorder_->computed(begin_, std::chrono::steady_clock::now());
}

void ComputeWatch::phase_lasted(const char* name, TimePoint begin, TimePoint end) noexcept {
  if (recorder_ != nullptr) recorder_->span(name, begin, end);
}

ArrivalAware::ArrivalAware(Job& job, const JobOptions& options, std::uint64_t vectors,
                           std::initializer_list<comm::Operation> operations, bool overlaps)
    : job_(job), options_(options) {
  const auto helps = [&](comm::Operation operation) {
    return session_helps(operation, options.algorithm(operation), vectors);
  };
  const bool records = job.recorder() != nullptr;
  if (job.size() > 1 && (records || (vectors > 0 && (overlaps || std::ranges::any_of(operations, helps))))) {
    session_ =
        std::make_unique<comm::MpiSession>(MPI_COMM_WORLD, options.to_comm_options(), comm::SessionOptions{});
    job.watch_stock_calls(*session_);
  }
  ComputeWatch::Delay delay;
  if (options.arrivals.delays()) {
    delay = [pattern = options.arrivals.pattern(), rank = job.rank(),
             ranks = job.size()](std::int64_t vector) { return pattern.delay_ns(vector, rank, ranks, 0); };
  }
  watch_.emplace(session_.get(), options.arrivals.edge, std::move(delay), job.recorder());
  if (session_ != nullptr && records) {
    session_->observe(job.recorder());
    job.recorder()->follow([this] { return session_->now_ns(); });
  }
}

ArrivalAware::~ArrivalAware() {
  if (session_ != nullptr && job_.recorder() != nullptr) job_.recorder()->unfollow();
}

std::optional<ArrivalSummary> ArrivalAware::finish() {
  if (session_ == nullptr) return std::nullopt;
  const comm::SessionStatistics s = session_->statistics();
  if (job_.recorder() != nullptr) job_.recorder()->unfollow();
  session_->close();
  if (!options_.wants_report()) return std::nullopt;
  const RankArrivals mine{s.begun_early, s.predicted, s.mean_error_ns * s.predicted, s.thread_share};
  RankArrivals all = mine;
  job_.comm().reduce<RankArrivals>(std::span(&mine, 1), std::span(&all, job_.is_root() ? 1 : 0),
                                   std::plus<>(), 0, options_.reduce);
  if (!job_.is_root()) return std::nullopt;
  ArrivalSummary summary;
  summary.calls = s.calls;
  summary.planned = s.planned;
  summary.distrusted = s.distrusted;
  summary.has_thread = s.has_thread;
  summary.begun_early = all.begun_early;
  summary.thread_share = all.thread_share;
  summary.guarded = session_->guarded_calls();
  if (all.predicted > 0) {
    summary.prediction_error_ms =
        static_cast<double>(all.error_ns) / static_cast<double>(all.predicted) * 1e-6;
  }
  return summary;
}

}  // namespace papfft::app
