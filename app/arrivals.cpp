// SPDX-License-Identifier: MIT
#include "app/arrivals.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "comm/select/select.hpp"

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

/// One rank's statistics, as sent to the root.
struct RankArrivals {
  std::int64_t calls = 0;
  std::int64_t planned = 0;
  std::int64_t begun_early = 0;
  std::int64_t predicted = 0;
  std::int64_t mean_error_ns = 0;
  double thread_share = 0;
};

}  // namespace

ComputeWatch::ComputeWatch(comm::Session* session, double edge, Delay delay)
    : session_(session), edge_(edge), delay_(std::move(delay)) {}

void ComputeWatch::compute_begins() {
  past_edge_ = false;
  if (session_ != nullptr) session_->processing_start();
  if (!delay_) return;
  const std::int64_t delay_ns = delay_(vector_++);
  const std::int64_t first_ns = std::llround(static_cast<double>(delay_ns) * edge_);
  rest_ns_ = delay_ns - first_ns;
  sleep_ns(first_ns);
}

void ComputeWatch::compute_reaches(double fraction) {
  if (session_ != nullptr && fraction >= edge_ && !past_edge_.exchange(true)) session_->edge(fraction);
}

void ComputeWatch::compute_ends() {
  sleep_ns(rest_ns_);
  if (session_ != nullptr) session_->processing_end();
}

ArrivalAware::ArrivalAware(Job& job, const JobOptions& options, std::uint64_t vectors)
    : job_(job), options_(options) {
  if (job.size() > 1 && vectors > 0 &&
      (session_helps(comm::Operation::scatter, options.scatter, vectors) ||
       session_helps(comm::Operation::gather, options.gather, vectors))) {
    session_ =
        std::make_unique<comm::MpiSession>(MPI_COMM_WORLD, options.to_comm_options(), comm::SessionOptions{});
  }
  ComputeWatch::Delay delay;
  if (options.arrivals.delays()) {
    delay = [pattern = options.arrivals.pattern(), rank = job.rank(),
             ranks = job.size()](std::int64_t vector) { return pattern.delay_ns(vector, rank, ranks, 0); };
  }
  watch_.emplace(session_.get(), options.arrivals.edge, std::move(delay));
}

std::optional<ArrivalSummary> ArrivalAware::finish() {
  if (session_ == nullptr) return std::nullopt;
  const comm::SessionStatistics s = session_->statistics();
  session_->close();
  if (!options_.stats && options_.json.empty()) return std::nullopt;
  const RankArrivals mine{s.calls, s.planned, s.begun_early, s.predicted, s.mean_error_ns, s.thread_share};
  std::vector<RankArrivals> all(job_.is_root() ? static_cast<std::size_t>(job_.size()) : 0);
  job_.comm().gather<RankArrivals>(std::span(&mine, 1), all, 0);
  if (!job_.is_root()) return std::nullopt;
  ArrivalSummary summary;
  summary.calls = mine.calls;
  summary.planned = mine.planned;
  summary.has_thread = s.has_thread;
  double sum_ns = 0;
  std::int64_t predictions = 0;
  for (const RankArrivals& rank : all) {
    summary.begun_early = std::max(summary.begun_early, rank.begun_early);
    summary.thread_share = std::max(summary.thread_share, rank.thread_share);
    sum_ns += static_cast<double>(rank.mean_error_ns) * static_cast<double>(rank.predicted);
    predictions += rank.predicted;
  }
  if (predictions > 0) summary.prediction_error_ms = sum_ns / static_cast<double>(predictions) * 1e-6;
  return summary;
}

}  // namespace papfft::app
