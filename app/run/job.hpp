// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/cli/exit_code.hpp"
#include "papfft/collectives.hpp"
#include "papfft/recorder.hpp"

namespace papfft::app {

class Pulse;
class StopRequest;
class StuckRanks;

/// Rank of this process as the launcher told it, before MPI is started; 0 when started alone.
[[nodiscard]] int launched_rank();

/// Has this process started MPI, as the first Job of a process with a launcher does? It can do so only once.
[[nodiscard]] bool job_has_started();

/// Whether a launcher (mpirun, srun) started this process.
[[nodiscard]] bool is_launched();

/// The ranks of one command: MPI when a launcher started us (mpirun, srun), else this process alone.
class Job {
 public:
  /// Collective. @throws comm::TransportError
  explicit Job(const comm::Options& options);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] comm::Collectives& comm() { return *comm_; }
  [[nodiscard]] int rank() const { return comm_->rank(); }
  [[nodiscard]] int size() const { return comm_->size(); }
  [[nodiscard]] bool is_root() const { return rank() == 0; }

  /// Who wants to know when the ranks come together; nullptr: nobody.
  [[nodiscard]] comm::Recorder* recorder() const { return recorder_; }
  /// @param recorder  must outlive the job's work
  void set_recorder(comm::Recorder* recorder) { recorder_ = recorder; }

  /// Who knows whether the job is to stop; nullptr: signals end it at once.
  [[nodiscard]] StopRequest* stop() const { return stop_; }
  /// @param stop  must outlive the job's work
  void set_stop(StopRequest* stop) { stop_ = stop; }

  /// What the root does before the job is ended by a communication that failed while its own thread is in a call of the MPI library:
  /// keep the results so far. By another thread. @param keep  empty: nothing
  void keep_results_by(std::function<void()> keep) { keep_results_ = std::move(keep); }

  /// Runs `work` on the root, then tells all ranks how it went. Collective. The root may take any time, for a file or for
  /// a pipe that is quiet: the others are not stuck meanwhile.
  /// @throws Quit on every rank, if `work` threw; the root has then printed the one line.
  void at_root(const std::function<void()>& work);

  /// Runs `work` on every rank, then tells all how it went. Collective.
  /// @throws Quit on every rank, if `work` threw on any; the lowest of these has then printed its one line.
  void on_every_rank(const std::function<void()>& work);

  /// Runs `work` on every rank. Collective. @return whether it threw on none; why it threw is not said
  [[nodiscard]] bool succeeds_everywhere(const std::function<void()>& work);

  /// Collective. @throws Quit on every rank, if `command_line` or a variable PAPFFT_... that matters to all (as the name of an
  /// algorithm does) is not the same on all
  void check_start(const std::string& command_line);

  /// Runs `body` on the first `ranks` ranks, which are the whole job meanwhile; the others wait for its end, and are not stuck.
  /// Collective. @throws Quit on every rank, if `body` did on the first ones; comm::TransportError
  void among(int ranks, const std::function<void()>& body);

  /// The root's value on every rank; trivially copyable types.
  template <typename Value>
  [[nodiscard]] Value from_root(Value value) {
    comm_->bcast<Value>(std::span(&value, 1), 0, bcast_algorithm);
    return value;
  }

  /// Collective: from now on the job ends if a rank is stopped, or its host is out of reach. @throws comm::TransportError
  void watch_ranks();

  /// Collective: ends the job if a call that `comm` leaves to the MPI library is stuck, so that "auto" may leave calls to it.
  /// @param comm  the job's own, or of the same ranks; must not outlive the job
  void watch_stock_calls(comm::Collectives& comm);

  /// Ends the job, as this rank is stuck. All stuck ranks agree on the one that says so, whatever they are stuck in: their watchdogs know
  /// nothing of each other. At once, while the buffers are there: MPI may still read them, and any call moves its messages on. Any thread.
  [[noreturn]] void end_stuck(const comm::StuckError& mine);

  /// Until the ranks are known to have the same options, one that depends on none.
  std::string bcast_algorithm = "bnom";

 private:
  struct Mpi;

  std::chrono::milliseconds stuck_after_;
  std::function<void()> keep_results_;
  std::unique_ptr<Mpi> mpi_;  // empty when alone
  std::unique_ptr<comm::Transport> alone_;
  std::unique_ptr<comm::Collectives> whole_;  // of all ranks, while some are the job
  std::unique_ptr<comm::Collectives> comm_;
  std::unique_ptr<StuckRanks> stuck_;  // empty when alone
  std::unique_ptr<Pulse> pulse_;       // ends first: its thread looks at the others
  comm::Recorder* recorder_ = nullptr;
  StopRequest* stop_ = nullptr;
};

/// Starts the ranks, checks that all have been started alike, and runs `body` on each.
/// @param bcast  algorithm of the job's own small broadcasts
/// @return the exit code
[[nodiscard]] int run_job(const comm::Options& options, const std::string& bcast,
                          const std::function<void(Job&)>& body);

/// Prints what an exception says, in one line, and gives the exit code that it stands for.
[[nodiscard]] int report_exception(const std::exception_ptr& error);

/// Ends all ranks at once with `code`, if there are others; else returns.
void abort_job(int code);

}  // namespace papfft::app
