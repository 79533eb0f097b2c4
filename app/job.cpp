// SPDX-License-Identifier: MIT
#include "app/job.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "app/command.hpp"
#include "app/io/atomic_file.hpp"
#include "app/io/errors.hpp"
#include "app/stop_request.hpp"
#include "app/tell.hpp"
#include "comm/predict/pure/arrival_trace.hpp"
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
  Mpi() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  }
  ~Mpi() {
    // After an exception the others may be waiting for us for ever: whoever catches it ends the job.
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
};

Job::Job(const comm::Options& options) {
  if (is_launched()) {
    mpi_ = std::make_unique<Mpi>();
    comm_ = std::make_unique<comm::Communicator>(MPI_COMM_WORLD, options);
  } else {
    alone_ = std::make_unique<comm::SelfTransport>();
    comm_ = std::make_unique<comm::Collectives>(*alone_, options);
  }
}

Job::~Job() = default;

void Job::check_command_line(const std::string& command_line) {
  const std::uint64_t mine = fingerprint(command_line);
  std::vector<std::uint64_t> all(is_root() ? static_cast<std::size_t>(size()) : 0);
  comm_->gather<std::uint64_t>(std::span(&mine, 1), all, 0, "lin");
  at_root([&] {
    const auto other = std::ranges::find_if(all, [&](std::uint64_t h) { return h != mine; });
    if (other != all.end()) {
      throw UsageError(
          fmt::format("rank {} was started with other arguments than rank 0", other - all.begin()));
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

int run_job(const comm::Options& options, const std::string& bcast, const std::function<void(Job&)>& body) {
  Job job(options);
  try {
    job.check_command_line(command_line());
    job.bcast_algorithm = bcast;  // only now is it known to be the same everywhere
    body(job);
  } catch (const Quit& quit) {
    StopRequest::come_too_late();
    return quit.code;
  }
  return kOk;
}

int report_exception(const std::exception_ptr& error) {
  const auto say = [](const std::string& what) { tell("papfft: {}\n", what); };
  try {
    std::rethrow_exception(error);
  } catch (const Quit& quit) {
    return quit.code;
  } catch (const io::DataError& e) {
    say(e.what());
    return kBadData;
  } catch (const io::OutputError& e) {
    say(e.what());
    return kCannotWrite;
  } catch (const UsageError& e) {
    say(e.what());
    return kUsage;
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
    say(fmt::format("rank {}: out of memory", launched_rank()));
    return kInternal;
  } catch (const std::length_error&) {  // a vector longer than any memory
    say(fmt::format("rank {}: out of memory", launched_rank()));
    return kInternal;
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
