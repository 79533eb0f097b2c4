// SPDX-License-Identifier: MIT
// How the ranks of a job come together: what they tell a session about their computing, and delays on purpose.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>

#include "app/run/job.hpp"
#include "app/run/job_options.hpp"
#include "app/run/run_report.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/local/parallel.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

/// Tells a session how far each computation is, and makes it late: a delay is slept before and after the computation, in
/// the proportion in which the edge divides that, so that the edge still divides the whole.
class ComputeWatch : public fft::ParallelObserver {
 public:
  /// ns by which this rank is late with a vector, counted from 0.
  using Delay = std::function<std::int64_t(std::int64_t vector)>;

  /// @param session  nullptr: nobody is told; else must outlive this object
  /// @param delay    may be empty
  /// @param recorder  as session
  ComputeWatch(comm::Session* session, double edge, Delay delay, comm::Recorder* recorder = nullptr);

  void compute_begins() override;
  void compute_reaches(double fraction) override;
  void compute_ends() override;
  void gather_ends() override {}
  void phase_lasted(const char* name, TimePoint begin, TimePoint end) noexcept override;

  /// For computations that do not know observers. Valid as long as this object.
  [[nodiscard]] fft::Progress progress() {
    return [this](double fraction) { compute_reaches(fraction); };
  }

 private:
  comm::Session* session_;
  double edge_;
  Delay delay_;
  comm::Recorder* recorder_;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t vector_ = 0;
  std::int64_t rest_ns_ = 0;  // of the delay, to be slept after the computation
  std::atomic<bool> past_edge_ = false;
};

/// The collectives of a job's vectors: over a session where arrivals can be predicted and that can help, else the job's
/// own. A session costs the synchronisation of clocks; a single vector pays that only if an algorithm that plans by
/// arrivals or works in the background was asked for. What is recorded always has one, whose clock it is on.
class ArrivalAware {
 public:
  /// Collective.
  /// @param vectors     that are worked on one after another; 0: none are
  /// @param operations  that each of them, or all together, need
  /// @param overlaps    calls go on beside computations: a session's thread then helps whatever the algorithms
  ArrivalAware(Job& job, const JobOptions& options, std::uint64_t vectors,
               std::initializer_list<comm::Operation> operations = {comm::Operation::scatter,
                                                                    comm::Operation::gather},
               bool overlaps = false);

  [[nodiscard]] comm::Collectives& comm() { return session_ != nullptr ? *session_ : job_.comm(); }
  /// nullptr: there is none
  [[nodiscard]] comm::Session* session() { return session_.get(); }
  [[nodiscard]] ComputeWatch& watch() { return *watch_; }

  /// Collective: ends the session. @return at the root, if there was one and somebody wants to know: how it went
  [[nodiscard]] std::optional<ArrivalSummary> finish();
  ~ArrivalAware();
  ArrivalAware(const ArrivalAware&) = delete;
  ArrivalAware& operator=(const ArrivalAware&) = delete;

 private:
  Job& job_;
  const JobOptions& options_;
  std::unique_ptr<comm::MpiSession> session_;
  std::optional<ComputeWatch> watch_;
};

}  // namespace papfft::app
