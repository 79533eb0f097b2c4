// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/runtime.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "comm/engine/call_engine.hpp"
#include "comm/mpi/mpi_lifetime.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/next_functions.hpp"
#include "comm/mpi/preload/own_work.hpp"
#include "comm/mpi/preload/waiting.hpp"

namespace papfft::comm::preload {

namespace {

int world_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// A thread in MPI_Wait of MPICH 4.0.2 gives its lock back and takes it again at once, so a thread of ours beside it hardly gets it: a
/// bcast of 800 KB did not end within 20 s. With generalized requests, UCX ended the program.
void require_started_calls() {
#ifdef MPICH_VERSION
  throw std::invalid_argument(
      "PAPFFT_NONBLOCKING=1 needs Open MPI; what would work with MPICH: PAPFFT_NONBLOCKING=0");
#endif
}

/// Of a reproducible job. Ways that are chosen by times would differ from run to run.
Options as_reproducible(Options options) {
  options.guard = false;
  options.learn_link = false;
  return options;
}

/// At rank 0: what all ranks say, added up, the time of the run as well.
Counts sums_of(Counts mine, Run& run) {
  const std::array<std::int64_t*, 6> others = {&run.wall_ns,          &run.expected.calls,
                                               &run.expected.planned, &run.expected.begun_early,
                                               &run.own.made,         &run.own.ns};
  std::vector<std::int64_t> values = mine.values();
  for (const std::int64_t* other : others) values.push_back(*other);
  std::vector<std::int64_t> sums(values.size());
  next_pmpi().reduce(values.data(), sums.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, 0,
                     MPI_COMM_WORLD);
  for (std::size_t i = 0; i < others.size(); ++i) *others.at(i) = sums.at(Counts::kSize + i);
  sums.resize(Counts::kSize);
  return Counts(std::move(sums));
}

void complain_of(std::string_view what, const char* error) {
  std::fprintf(stderr, "papfft preload: %.*s: %s\n", static_cast<int>(what.size()), what.data(), error);
}

/// What the library does by itself, on all ranks together. Others may wait for a rank on which it fails, so the job ends, unless the
/// program's error handler knows better.
template <typename Work>
void or_end(std::string_view during, Work work) noexcept {
  try {
    work();
  } catch (const std::exception& e) {
    complain_of(during, e.what());
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  }
}

/// Whole or not at all. @param name  "-": the standard error
void write(const std::string& name, const std::string& text) {
  if (name == "-") {
    std::fputs(text.c_str(), stderr);
    return;
  }
  const std::string unfinished = name + ".part";
  // "x": where others may write, no link that waits under this name is followed.
  (void)std::remove(unfinished.c_str());
  std::FILE* const file = std::fopen(unfinished.c_str(), "wbxe");
  bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) is_written = std::fclose(file) == 0 && is_written;
  if (!is_written || std::rename(unfinished.c_str(), name.c_str()) != 0)
    std::fprintf(stderr, "papfft preload: %s cannot be written\n", name.c_str());
}

}  // namespace

Runtime& Runtime::get() {
  static auto* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() {
  try {
    settings_ = Settings::parse([](const char* name) -> const char* { return std::getenv(name); });
    options_ = Options::from_environment();
    if (settings_.is_reproducible) options_ = as_reproducible(options_);
    if (settings_.takes_started) require_started_calls();
  } catch (const std::exception& e) {
    error_ = e.what();
  }
}

void Runtime::start(bool with_threads) {
  const Inside inside;
  if (is_started_) return;
  const bool agreed = [&] {
    const OwnWork work(options_, "starts");
    return all_agree(with_threads);
  }();
  if (!agreed) return complain();
  if (settings_.mode != Mode::off) or_end("MPI_Init", [this] { begin(); });
}

void Runtime::begin() {
  started_ns_ = steady_now_ns();
  prepare_to_inspect();
  communicators_.emplace(settings_, options_);
  // Open MPI 4.1 hangs where threads make communicators at the same time. Now there are no threads yet.
  if (settings_.mode == Mode::on && any_has_threads_ && !settings_.most_communicators)
    communicators_->make_only({.comm = MPI_COMM_WORLD});
  if (settings_.takes_started) started_groups_.emplace(options_);
  if (settings_.mode == Mode::observe || !settings_.recording.empty())
    observation_.emplace(options_, settings_.least_bytes);
  is_timed_ = observation_ || !settings_.report.empty();
  // The first attribute of MPI_COMM_SELF is the last to be deleted. So other libraries' ends, which may communicate, are served.
  at_end_.emplace([this] {
    const Inside at_end;
    is_started_ = false;
    if (started_groups_) started_groups_->close();
    or_end("MPI_Finalize", [this] { report(); });
  });
  takes_started_ = settings_.takes_started;
  is_started_ = true;
}

bool Runtime::all_agree(bool with_threads) {
  const std::uint64_t hash = error_.empty() ? settings_.hash() : 0;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  const bool is_multiple = level == MPI_THREAD_MULTIPLE;
  std::array<std::uint64_t, 4> most = {hash, ~hash, is_multiple ? 0U : 1U,
                                       is_multiple && with_threads ? 1U : 0U};
  next_pmpi().allreduce(MPI_IN_PLACE, most.data(), 4, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  all_have_threads_ = most[2] == 0;
  any_has_threads_ = most[3] == 1;
  return error_.empty() && most[0] == hash && most[1] == ~hash;
}

void Runtime::complain() const {
  if (world_rank() != 0) return;
  const char* const why =
      error_.empty()
          ? "the ranks have different settings; what would work: pass all PAPFFT_ variables to all "
            "ranks (mpirun -x NAME, srun --export=ALL)"
          : error_.c_str();
  std::fprintf(stderr, "papfft preload: %s. All calls go to the MPI library.\n", why);
}

/// The same question as the call's own, so that what "auto" leaves to the MPI library goes there with the program's own arguments. The
/// group keeps the answer as long as it holds.
bool Runtime::is_left_to_stock(const Call& call, Collectives& ours) const {
  return ours.engine()
      .steady({.operation = call.operation,
               .bytes = call.bytes,
               .root = call.root,
               .algorithm = settings_.algorithm_of(call.operation)})
      ->plan->is_stock();
}

Group* Runtime::group_for(const Call& call, Reason& reason) {
  Group& group = communicators_->of(call);
  reason = group.reason;
  if (reason != Reason::none) return nullptr;
  if (!traits(call.operation).sizes_are_own && is_left_to_stock(call, *group.ours)) {
    reason = Reason::stock_best;
    return nullptr;
  }
  return &group;
}

std::int64_t Runtime::note_end(const Call& call, const char* algorithm, std::int64_t from_ns,
                               std::optional<std::int64_t> predicted_ns) {
  const std::int64_t now_ns = observed_now_ns();
  if (observation_) {
    observation_->call_ended({.operation = call.operation,
                              .algorithm = algorithm,
                              .root = is_rooted(call.operation) ? call.root : 0,
                              .bytes = call.bytes,
                              .arrival_ns = from_ns,
                              .exit_ns = now_ns,
                              .predicted_ns = predicted_ns},
                             call.comm);
  }
  return now_ns - from_ns;
}

void Runtime::note_served(const Call& call, const Group& group, std::int64_t from_ns) {
  const bool is_stock = group.ours->last_call().segments == 0;
  std::optional<std::int64_t> predicted_ns;
  if (observation_ && group.session != nullptr) {
    const SessionStatistics last = group.session->statistics();
    if (last.predicted_ns) predicted_ns = from_ns + *last.predicted_ns - last.arrived_ns;
  }
  const std::int64_t ns = note_end(call, is_stock ? "mpi" : "ours", from_ns, predicted_ns);
  if (is_stock) {
    counters_.add_passed(call.operation, call.bytes, Reason::guarded, ns);
  } else {
    counters_.add_ours(call.operation, call.bytes, ns);
  }
}

void Runtime::before_end_of(MPI_Comm comm) {
  const Inside inside;
  if (comm == MPI_COMM_NULL) return;
  if (StartedCalls* const calls = started_groups_->find(comm)) calls->drain();
}

int Runtime::start_call(const Call& call, Reason reason, std::function<void(Collectives&)> serve, Way& way) {
  if (reason == Reason::none && !all_have_threads_) reason = Reason::no_thread;
  if (settings_.mode == Mode::on && reason == Reason::none) {
    const std::shared_ptr<StartedCalls> calls = started_groups_->of(call.comm);
    reason = calls->reason();
    if (reason == Reason::none) {
      const auto note = [this, call](Collectives* ours, const char* error) {
        if (error != nullptr) {
          complain_of(to_string(call.operation), error);
        } else if (ours->last_call().segments == 0) {
          counters_.add_passed(call.operation, call.bytes,
                               is_left_to_stock(call, *ours) ? Reason::stock_best : Reason::guarded, 0);
        } else {
          counters_.add_ours(call.operation, call.bytes, 0);
        }
      };
      StartedCalls::Call started{std::move(serve), note, way.held()};
      if (!way.is_persistent()) return calls->start(std::move(started), way.request());
      return started_groups_->persistent().add(calls, std::move(started), way.request());
    }
  }
  counters_.add_passed(call.operation, call.bytes, reason, 0);
  return way.pass();
}

int Runtime::fail(std::string_view call, MPI_Comm comm, const std::exception& error) noexcept {
  const Inside inside;
  if (Group* const group = communicators_->find(comm)) group->reason = Reason::failed;
  // All ranks know that they do not agree. None ends the job before the first has said so.
  const bool all_know = dynamic_cast<const MismatchError*>(&error) != nullptr;
  if (!all_know || rank_in(comm) == 0) complain_of(call, error.what());
  if (all_know) PMPI_Barrier(comm);
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

void Runtime::report() {
  const std::int64_t ended_ns = steady_now_ns();
  ArrivalRecording recording;
  if (observation_) recording = observation_->collect();
  if (!settings_.report.empty()) {
    Run run{.mode = settings_.mode,
            .wall_ns = ended_ns - started_ns_,
            .expected = communicators_->expected_calls(),
            .own = communicators_->own_communicators()};
    PMPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    const Counts sums = sums_of(counters_.counts(), run);
    const bool is_json = settings_.report.ends_with(".json");
    if (world_rank() == 0)
      write(settings_.report,
            is_json ? summary_json(run, sums) : summary_text(run, sums) + waiting_text(recording));
  }
  if (settings_.recording.empty() || world_rank() != 0) return;
  if (settings_.recording.ends_with(".json")) return write(settings_.recording, recording_json(recording));
  std::ostringstream text;
  write_recording(text, recording, {"papfft preload: calls on MPI_COMM_WORLD and its duplicates"});
  write(settings_.recording, text.str());
}

}  // namespace papfft::comm::preload
