// SPDX-License-Identifier: MIT
// Usage: mpirun -n RANKS papfft_soak SECONDS REPORT_SECONDS
// Makes calls of all operations until the time is over: in one session that lives as long, and in communicators and sessions that come
// and go. Checks all results. At each report rank 0 prints a line of numbers, separated by tabs, for each rank: soak.py reads them.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "app/bench/collective_data.hpp"
#include "comm/arrival/clock_sync.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::soak {
namespace {

using namespace std::chrono_literals;

constexpr int kWords = 5000;                 // of a block: more than an eager message in all
constexpr int kRoundsBetweenGroups = 10;     // then communicators and sessions come and go
constexpr std::int64_t kDriftPpb = 100'000;  // of a rank's clock: more than real clocks have

/// What a rank tells of itself. The first two numbers count from the beginning, all others from the report before.
struct Report {
  std::int64_t calls = 0;
  std::int64_t wrong = 0;
  std::int64_t communicators = 0;
  std::int64_t clock_bound_ns = 0;
  std::int64_t predicted = 0;
  std::int64_t planned = 0;
  std::int64_t seen = 0;               ///< calls of the session
  std::int64_t error_ns = 0;           ///< sum of |predicted - true arrival| over `predicted`
  std::int64_t clock_error_ns = 0;     ///< the session's clock: the largest error that was seen
  std::int64_t clock_over_bound = 0;   ///< how often an error was beyond its bound
  std::int64_t drifting_error_ns = 0;  ///< the same of a clock that runs at another rate
  std::int64_t drifting_over_bound = 0;
  std::int64_t drift_ppb = 0;  ///< what was found out about that rate
};
constexpr int kNumbers = sizeof(Report) / sizeof(std::int64_t);
constexpr const char* kNames =
    "calls\twrong\tcommunicators\tclock_bound_ns\tpredicted\tplanned\tseen\terror_ns\tclock_error_ns\t"
    "clock_over_bound\tdrifting_error_ns\tdrifting_over_bound\tdrift_ppb";

/// How far a reading lies outside of the time in which it was taken. All ranks are on one machine and share its clock.
template <typename Now>
std::int64_t error_of(Now now) {
  static const comm::ClockSource truth = comm::monotonic_clock();
  const std::int64_t before = truth();
  const std::int64_t said = now();
  const std::int64_t after = truth();
  return said < before ? before - said : std::max<std::int64_t>(0, said - after);
}

/// Rank 0's clock, on ranks whose own clocks run too fast or too slow.
class DriftingClock {
 public:
  DriftingClock() {
    sync_.synchronise();
    background_.add(sync_);
    background_.start();
  }
  ~DriftingClock() {
    background_.remove(sync_);
    sync_.close();
    background_.stop();
  }
  DriftingClock(const DriftingClock&) = delete;
  DriftingClock& operator=(const DriftingClock&) = delete;

  [[nodiscard]] const comm::ClockSync& sync() const { return sync_; }

 private:
  static comm::ClockSource clock_of(int rank) {
    if (rank == 0) return comm::monotonic_clock();
    return comm::skewed_clock(comm::monotonic_clock(), rank * 1'000'000'000LL,
                              rank % 2 == 0 ? kDriftPpb : -kDriftPpb);
  }

  comm::MpiTransport transport_{MPI_COMM_WORLD, false};
  comm::ClockSync sync_{transport_, clock_of(transport_.rank()), 0};
  comm::Background background_;
};

/// Data for a call of each operation.
class AllOperations {
 public:
  explicit AllOperations(const comm::Collectives& group) {
    const auto ranks = static_cast<std::size_t>(group.size());
    for (const comm::OperationTraits& row : comm::kOperations) {
      app::Case size{.block_bytes = kWords * sizeof(std::uint32_t), .total_bytes = 0};
      if (row.is_per_rank()) {
        size.counts.assign(ranks, kWords);
        if (row.takes_sizes) size.counts.front() = 3;
        if (row.takes_sizes && ranks > 1) size.counts.back() = 2 * kWords;
      }
      all_.emplace_back(row.operation, size, group.size(), group.rank(), 0, true);
    }
  }

  /// A call of each. @param before  what is done before each call, @param after  after it
  template <typename Before, typename After>
  std::int64_t round(comm::Collectives& group, Before before, After after) {
    std::int64_t wrong = 0;
    for (app::CollectiveData& data : all_) {
      data.fill(++number_);
      before();
      data.call(group, "auto");
      after();
      wrong += data.is_correct() ? 0 : 1;
    }
    return wrong;
  }

 private:
  std::uint64_t number_ = 0;
  std::vector<app::CollectiveData> all_;
};

/// Places in MPI's table of communicators are taken from the front: the first free one says how many are in use.
int communicators() {
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &one);
  const int place = MPI_Comm_c2f(one);
  MPI_Comm_free(&one);
  return place;
}

class Soak {
 public:
  Soak()
      : session_(MPI_COMM_WORLD, comm::Options::from_environment(),
                 comm::SessionOptions{.clock_offset = world_rank() * 1s}),
        data_(session_) {}

  void run(double seconds, double report_seconds) {
    enum Next : int { go_on, report, end };
    if (session_.rank() == 0) std::printf("second\trank\t%s\n", kNames);
    const double begin_s = MPI_Wtime();
    double reported_s = begin_s;
    std::array next = {static_cast<int>(go_on)};
    for (int round = 0; next[0] != end; ++round) {
      in_session();
      if (round % kRoundsBetweenGroups == 0) groups_that_come_and_go();
      const double now_s = MPI_Wtime();
      if (session_.rank() == 0) {
        const bool is_due = now_s - reported_s >= report_seconds;
        next[0] = now_s - begin_s >= seconds ? end : is_due ? report : go_on;
      }
      session_.bcast<int>(next, 0);
      if (next[0] == go_on) continue;
      print(now_s - begin_s);
      reported_s = now_s;
    }
  }

  [[nodiscard]] bool is_correct() const { return report_.wrong == 0; }

 private:
  static int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }

  void in_session() {
    // Each rank takes a time of its own, which repeats.
    int call = 0;
    const auto half = [&] { std::this_thread::sleep_for((10 + (session_.rank() * 3 + call) % 5 * 3) * 1ms); };
    const auto compute = [&] {
      session_.processing_start();
      half();
      session_.edge(0.5);
      half();
      session_.processing_end();
      ++call;
    };
    report_.wrong += data_.round(session_, compute, [&] { note(); });
  }

  void note() {
    const comm::SessionStatistics statistics = session_.statistics();
    ++report_.calls;
    ++report_.seen;
    if (statistics.predicted_ns) {
      ++report_.predicted;
      report_.error_ns += std::abs(*statistics.predicted_ns - statistics.arrived_ns);
    }
    report_.planned += statistics.planned - planned_before_;
    planned_before_ = statistics.planned;
    report_.clock_bound_ns = statistics.clock_uncertainty_ns;
    look(error_of([&] { return session_.now_ns(); }), statistics.clock_uncertainty_ns, report_.clock_error_ns,
         report_.clock_over_bound);
    look(error_of([&] { return drifting_.sync().now_ns(); }), drifting_.sync().uncertainty_ns(),
         report_.drifting_error_ns, report_.drifting_over_bound);
    report_.drift_ppb = drifting_.sync().drift_ppb();
  }

  static void look(std::int64_t error_ns, std::int64_t bound_ns, std::int64_t& largest_ns,
                   std::int64_t& over) {
    largest_ns = std::max(largest_ns, error_ns);
    over += error_ns > bound_ns ? 1 : 0;
  }

  /// Among ranks of one parity, the last one first.
  void groups_that_come_and_go() {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, session_.rank() % 2, -session_.rank(), &half);
    {
      comm::Communicator group(half);
      comm::MpiSession session(half);
      for (comm::Collectives* one :
           {static_cast<comm::Collectives*>(&group), static_cast<comm::Collectives*>(&session)}) {
        report_.wrong += AllOperations(*one).round(
            *one, [] {}, [&] { ++report_.calls; });
      }
    }
    MPI_Comm_free(&half);
  }

  void print(double second) {
    report_.communicators = communicators();
    const int ranks = session_.size();
    std::vector<Report> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&report_, kNumbers, MPI_INT64_T, all.data(), kNumbers, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks && session_.rank() == 0; ++rank) {
      std::printf("%.0f\t%d", second, rank);
      std::array<std::int64_t, kNumbers> numbers{};
      std::memcpy(numbers.data(), &all[static_cast<std::size_t>(rank)], sizeof numbers);
      for (const std::int64_t number : numbers) std::printf("\t%lld", static_cast<long long>(number));
      std::printf("\n");
    }
    std::fflush(stdout);
    report_ = {.calls = report_.calls, .wrong = report_.wrong};
  }

  comm::MpiSession session_;
  AllOperations data_;
  DriftingClock drifting_;
  Report report_;
  std::int64_t planned_before_ = 0;
};

}  // namespace
}  // namespace papfft::soak

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  bool is_correct = false;
  try {
    papfft::soak::Soak soak;
    soak.run(argc > 1 ? std::atof(argv[1]) : 10, argc > 2 ? std::atof(argv[2]) : 2);
    is_correct = soak.is_correct();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "papfft_soak: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 74);
  }
  MPI_Finalize();
  return is_correct ? 0 : 1;
}
