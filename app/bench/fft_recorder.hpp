// SPDX-License-Identifier: MIT
#pragma once
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "app/run/arrivals.hpp"
#include "papfft/session.hpp"

namespace papfft::app {

/// One rank's view of one vector.
struct VectorRecord {
  std::int64_t arrival_ns = 0;  ///< at the gather
  std::int64_t exit_ns = 0;
  double compute_ms = 0;
};

/// Keeps the times of each vector.
class VectorRecorder final : public ComputeWatch {
 public:
  VectorRecorder(comm::Session& session, double edge, Delay delay, comm::Recorder* recorder)
      : ComputeWatch(&session, edge, std::move(delay), recorder), session_(session) {}

  void compute_begins() override {
    begin_ = std::chrono::steady_clock::now();
    ComputeWatch::compute_begins();
  }
  void compute_ends() override {
    ComputeWatch::compute_ends();
    record_.compute_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    record_.arrival_ns = session_.now_ns();
    if (keeps_all_) all_.push_back(record_);
  }
  void gather_ends() override { record_.exit_ns = session_.now_ns(); }

  [[nodiscard]] const VectorRecord& record() const { return record_; }

  /// Of vectors that overlap: each as it leaves its computation.
  void keep_all() { keeps_all_ = true; }
  void forget() { all_.clear(); }
  [[nodiscard]] const std::vector<VectorRecord>& all() const { return all_; }

 private:
  bool keeps_all_ = false;
  std::vector<VectorRecord> all_;
  comm::Session& session_;
  std::chrono::steady_clock::time_point begin_;
  VectorRecord record_;
};

/// What this process has used of its cores, all its threads together.
inline double cpu_ms() {
  struct rusage used {};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

}  // namespace papfft::app
