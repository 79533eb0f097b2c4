// SPDX-License-Identifier: MIT
#include "app/run/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/cli/command.hpp"
#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/io/atomic_file.hpp"
#include "app/io/errors.hpp"
#include "app/run/memory.hpp"
#include "app/run/pulse.hpp"
#include "app/run/stop_request.hpp"
#include "app/run/stuck_ranks.hpp"
#include "comm/engine/call_engine.hpp"
#include "comm/engine/call_watch.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/mpi/stock_variables.hpp"
#include "comm/record/arrival_trace.hpp"
#include "comm/transport/self_transport.hpp"
#include "comm/transport/transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

/// What launchers set for each process: mpirun of Open MPI, any PMIx launcher, and Slurm's or MPICH's PMI.
constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

std::uint64_t fingerprint(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

/// Our variables in the environment, in order, but for those in which ranks may differ.
std::string shared_environment() {
  constexpr std::array<std::string_view, 5> kOwn = {
      "PAPFFT_THREADS=", "PAPFFT_WAIT=", "PAPFFT_NAP_US=", "PAPFFT_PROGRESS=", "PAPFFT_TUNING="};
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_own =
        std::ranges::any_of(kOwn, [&](std::string_view own) { return text.starts_with(own); });
    if (text.starts_with("PAPFFT_") && !is_own) found.emplace_back(text);
  }
  std::ranges::sort(found);
  return fmt::format("{}", fmt::join(found, "\n"));
}

/// Ends a rank that waits too long for others in MPI's start or end. No message can be sent there to agree on who speaks. So the ranks
/// have their turns, and the launcher ends all of them when the first has spoken.
[[noreturn]] void end_at_threshold(std::chrono::milliseconds limit) {
  constexpr int kTurns = 8;
  std::this_thread::sleep_for(std::chrono::seconds(4) * std::min(launched_rank(), kTurns));
  tell(
      "papfft: no progress for {} ms: rank {} waits for the MPI library to start or end, which all ranks do "
      "together\n",
      limit.count(), launched_rank());
  std::_Exit(kCommunication);
}

/// What must be the same on all ranks. Ranks of different versions compare it, too: so it stays as it is.
struct Start {
  std::array<char, 32> version{};
  std::uint64_t command_line = 0;
  std::uint64_t environment = 0;

  [[nodiscard]] std::string_view version_text() const {
    return {version.data(), ::strnlen(version.data(), version.size())};
  }
};

Start start_of(const std::string& command_line) {
  Start start{.command_line = fingerprint(command_line), .environment = fingerprint(shared_environment())};
  fmt::format_to_n(start.version.data(), start.version.size(), "{}", kVersion);
  return start;
}

}  // namespace

bool is_launched() {
  return std::ranges::any_of(kRankVariables, [](const char* name) { return std::getenv(name) != nullptr; });
}

int launched_rank() {
  for (const char* name : kRankVariables) {
    if (const char* text = std::getenv(name); text != nullptr) return std::atoi(text);
  }
  return 0;
}

bool job_has_started() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized != 0;
}

struct Job::Mpi {
  explicit Mpi(std::chrono::milliseconds stuck_after) {
    constexpr std::chrono::milliseconds kAtLeast{20000};  // MPI_Init alone may take seconds on a busy machine
    if (stuck_after.count() > 0) {
      const auto limit = std::max(stuck_after, kAtLeast);
      watch_.emplace(limit, [limit] { end_at_threshold(limit); });
    }
    const comm::CallWatch::Call watching = watched();
    comm::StockVariables::enable();  // a table of decisions may name algorithms of the MPI library's
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  }
  ~Mpi() {
    // After an exception the others may be waiting for us for ever: whoever catches it ends the job.
    if (std::uncaught_exceptions() > 0) return;
    const comm::CallWatch::Call watching = watched();
    MPI_Finalize();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  /// While it lives, ranks do together what no watchdog can look into: MPI's start and end, and what makes communicators.
  [[nodiscard]] comm::CallWatch::Call watched() { return comm::CallWatch::Call(watch_ ? &*watch_ : nullptr); }

 private:
  std::optional<comm::CallWatch> watch_;
};

Job::Job(const comm::Options& options) : stuck_after_(options.stuck_after) {
  if (is_launched()) {
    mpi_ = std::make_unique<Mpi>(stuck_after_);
    const comm::CallWatch::Call watching = mpi_->watched();
    comm_ = std::make_unique<comm::Communicator>(MPI_COMM_WORLD, options);
    stuck_ = std::make_unique<StuckRanks>(options);
  } else {
    alone_ = std::make_unique<comm::SelfTransport>();
    comm_ = std::make_unique<comm::Collectives>(*alone_, options);
  }
}

Job::~Job() = default;

void Job::check_start(const std::string& command_line) {
  const Start mine = start_of(command_line);
  std::vector<Start> all(is_root() ? static_cast<std::size_t>(size()) : 0);
  // A started call: PAPFFT_CHECK, which ranks may have set differently, adds no messages to it.
  comm_->igather<Start>(std::span(&mine, 1), all, 0, "lin").wait();
  at_root([&] {
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r].version != mine.version) {
        throw UsageError(fmt::format(
            "rank {} is papfft {}, and rank 0 is papfft {}; what would work: the same on all hosts", r,
            all[r].version_text(), mine.version_text()));
      }
      if (all[r].command_line != mine.command_line)
        throw UsageError(fmt::format("rank {} was started with other arguments than rank 0", r));
      if (all[r].environment != mine.environment) {
        throw UsageError(
            fmt::format("rank {} has other variables PAPFFT_... in its environment than rank 0; what would "
                        "work: options instead, or mpirun -x NAME for each",
                        r));
      }
    }
  });
}

void Job::at_root(const std::function<void()>& work) {
  int code = kOk;
  if (is_root()) {
    try {
      work();
    } catch (const comm::TransportError&) {
      throw;  // the others cannot be told
    } catch (...) {
      code = report_exception(std::current_exception());
    }
  }
  comm::Pending told = comm_->ibcast<int>(std::span(&code, 1), 0, "bnom");
  comm_->wait_until([&] { return told.done(); }, true);
  if (code != kOk) throw Quit{code};
}

void Job::on_every_rank(const std::function<void()>& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (const comm::TransportError&) {
    throw;  // the others cannot be told
  } catch (...) {
    failure = std::current_exception();
  }
  const int mine = failure ? rank() : size();
  int first = mine;
  const auto lower = [](int a, int b) { return std::min(a, b); };
  comm_->reduce<int>(std::span<const int>(&mine, 1), std::span(&first, is_root() ? 1 : 0), lower, 0);
  first = from_root(first);
  if (first == size()) return;
  // All know who speaks; only its code is still to be told.
  int code = kOk;
  if (first == rank()) code = report_exception(failure);
  comm_->bcast<int>(std::span(&code, 1), first, bcast_algorithm);
  throw Quit{code};
}

bool Job::succeeds_everywhere(const std::function<void()>& work) {
  int mine = 1;
  try {
    work();
  } catch (const comm::TransportError&) {
    throw;  // the others cannot be told
  } catch (...) {
    mine = 0;
  }
  int all = mine;
  const auto lower = [](int a, int b) { return std::min(a, b); };
  comm_->reduce<int>(std::span<const int>(&mine, 1), std::span(&all, is_root() ? 1 : 0), lower, 0);
  return from_root(all) == 1;
}

void Job::among(int ranks, const std::function<void()>& body) {
  if (ranks >= size()) return body();
  const bool takes_part = rank() < ranks;
  MPI_Comm part = MPI_COMM_NULL;
  PAPFFT_MPI(MPI_Comm_split, MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank(), &part);
  int code = kOk;
  if (takes_part) {
    auto of_part = std::make_unique<comm::Communicator>(part, comm_->options());
    PAPFFT_MPI(MPI_Comm_free, &part);  // of_part has a duplicate
    whole_ = std::exchange(comm_, std::move(of_part));
    watch_stock_calls(*comm_);
    try {
      body();
    } catch (const Quit& quit) {
      code = quit.code;
    }
    comm_ = std::move(whole_);
  }
  comm::Pending told = comm_->ibcast<int>(std::span(&code, 1), 0, "bnom");
  comm_->wait_until([&] { return told.done(); }, true);
  if (code != kOk) throw Quit{code};
}

void Job::end_stuck(const comm::StuckError& mine) {
  const comm::StuckError agreed = stuck_ != nullptr ? stuck_->agree(mine) : mine;
  const int code = report_exception(std::make_exception_ptr(agreed));
  if (is_root() && keep_results_) keep_results_();
  abort_job(code);
  std::_Exit(code);
}

void Job::watch_ranks() {
  if (mpi_ == nullptr || size() == 1 || stuck_after_.count() == 0) return;
  const comm::CallWatch::Call watching = mpi_->watched();
  pulse_ = std::make_unique<Pulse>(stuck_after_, [this](const comm::StuckError& mine) { end_stuck(mine); });
}

void Job::watch_stock_calls(comm::Collectives& comm) {
  comm.engine().watch_stock([this](const comm::StuckError& mine) { end_stuck(mine); });
}

int run_job(const comm::Options& options, const std::string& bcast, const std::function<void(Job&)>& body) {
  Job job(options);
  try {
    job.check_start(command_line());
    job.bcast_algorithm = bcast;  // only now is it known to be the same everywhere
    job.watch_ranks();
    job.watch_stock_calls(job.comm());
    body(job);
    job.at_root([] {});  // which may still write: who waits for it in MPI_Finalize seems stuck
  } catch (const Quit& quit) {
    StopRequest::come_too_late();
    return quit.code;
  } catch (const comm::StuckError& stuck) {
    job.end_stuck(stuck);
  }
  return kOk;
}

int report_exception(const std::exception_ptr& error) {
  const auto say = [](const std::string& what) { tell("papfft: {}\n", what); };
  const auto out_of_memory = [&] {
    say(fmt::format("rank {}: out of memory", launched_rank()));
    return kInternal;
  };
  try {
    std::rethrow_exception(error);
  } catch (const Quit& quit) {
    return quit.code;
  } catch (const io::DataError& e) {
    say(e.what());
    return kBadData;
  } catch (const io::UnsuitableOutput& e) {
    say(e.what());
    return kUsage;
  } catch (const io::OutputError& e) {
    say(e.what());
    return kCannotWrite;
  } catch (const UsageError& e) {
    say(e.what());
    return kUsage;
  } catch (const MemoryError& e) {
    say(e.what());
    return kInternal;
  } catch (const comm::TraceError& e) {
    say(e.what());
    return kBadData;
  } catch (const std::invalid_argument& e) {  // an algorithm, a window, a length that cannot be
    say(e.what());
    return kUsage;
  } catch (const comm::MismatchError& e) {
    say(e.what());
    return kUsage;
  } catch (const comm::StuckError& e) {
    // Another rank speaks for all and ends the job; if it cannot, we do after a while.
    if (!e.speaks()) std::this_thread::sleep_for(std::chrono::seconds(5));
    say(e.what());
    return kCommunication;
  } catch (const comm::TransportError& e) {
    say(e.what());
    return kCommunication;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // a vector longer than any memory
    return out_of_memory();
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) == 0) {
      say(fmt::format("rank {}: {}", launched_rank(), e.what()));
      return kInternal;
    }
    say(io::OutputError("standard output", io::errno_text(e.code().value())).what());
    return kCannotWrite;
  } catch (const std::exception& e) {
    say(fmt::format("rank {}: internal error: {}", launched_rank(), e.what()));
    return kInternal;
  } catch (...) {
    say(fmt::format("rank {}: internal error", launched_rank()));
    return kInternal;
  }
}

void abort_job(int code) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!job_has_started() || finalized != 0) return;
  io::unlink_pending_temporaries();
  MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace papfft::app
