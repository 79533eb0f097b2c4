// SPDX-License-Identifier: MIT
#include "app/run/stop_request.hpp"

#include <fmt/format.h>
#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/cli/tell.hpp"
#include "app/io/atomic_file.hpp"
#include "app/run/job.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGUSR1};  // the last is taken when all are
constexpr auto kLookEvery = std::chrono::milliseconds(50);
/// mpirun passes a signal on to all ranks: so long the others leave it to the root to speak for them.
constexpr auto kRootSpeaksFor = std::chrono::seconds(2);

// What the handler touches.
std::atomic<int> own_signal = 0;  // the first that came
std::atomic<bool> came_from_parent = false;
sem_t something_came;
std::atomic<bool> too_late = false;  // nobody is to be asked any more
std::array<struct sigaction, kSignals.size()> before;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int signal, siginfo_t* info, void* /*context*/) {
  int none = 0;
  if (own_signal == 0) came_from_parent = info->si_code == SI_USER && info->si_pid == getppid();
  if (!own_signal.compare_exchange_strong(none, signal)) {
    if (signal == SIGUSR1) return;
    io::unlink_pending_temporaries();
    _exit(128 + signal);
  }
  const int saved_errno = errno;
  (void)sem_post(&something_came);
  errno = saved_errno;
}

void wait_for_something(std::optional<std::chrono::milliseconds> most) {
  if (!most) {
    while (sem_wait(&something_came) != 0 && errno == EINTR) {
    }
    return;
  }
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);  // which nobody sets back: else the thread might sleep for hours
  const auto ns = until.tv_nsec + std::chrono::nanoseconds(*most).count();
  until.tv_sec += ns / 1'000'000'000;
  until.tv_nsec = ns % 1'000'000'000;
  while (sem_clockwait(&something_came, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
}

}  // namespace

/// A byte from each rank to the root: the signal that it got. On a communicator of their own, so that they meet nothing else.
class StopRequest::Messages {
 public:
  /// Collective.
  Messages() : transport_(MPI_COMM_WORLD, false) {
    if (!transport_.threads_allowed()) return;
    channel_ = transport_.open();
    heard_ = std::make_shared<std::vector<unsigned char>>(
        static_cast<std::size_t>(is_root() ? transport_.size() : 1));
    channel_->keep(heard_);
    for (comm::Rank r = 1; is_root() && r < transport_.size(); ++r) {
      (void)channel_->irecv(r, kTag, bytes_of(static_cast<std::size_t>(r)));
    }
  }

  /// Whether they can be used beside what other threads do.
  [[nodiscard]] bool work() const { return channel_ != nullptr; }
  [[nodiscard]] bool is_root() const { return transport_.rank() == 0; }

  /// Elsewhere than at the root.
  void pass_on(int signal) {
    heard_->front() = static_cast<unsigned char>(signal);
    (void)channel_->isend(0, kTag, bytes_of(0));
    is_sending_ = true;
  }
  [[nodiscard]] bool is_sending() const { return is_sending_; }
  /// Moves them on. @return at the root: a signal that another rank got, or 0
  int step() {
    ended_.clear();
    channel_->poll(ended_);
    if (ended_.empty()) return 0;
    is_sending_ = false;
    int signal = 0;
    for (std::size_t r = 1; r < heard_->size(); ++r) signal = std::max<int>(signal, (*heard_)[r]);
    return signal;
  }

 private:
  static constexpr int kTag = 1;

  [[nodiscard]] std::span<std::byte> bytes_of(std::size_t rank) const {
    return std::as_writable_bytes(std::span(*heard_)).subspan(rank, 1);
  }

  comm::MpiTransport transport_;
  std::shared_ptr<std::vector<unsigned char>> heard_;  // by rank
  std::unique_ptr<comm::Channel> channel_;
  std::vector<int> ended_;
  bool is_sending_ = false;
};

StopRequest::StopRequest() {
  own_signal = 0;
  too_late = false;
  sem_init(&something_came, 0, 0);
  struct sigaction action {};
  action.sa_sigaction = note_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before[i]);
  thread_ = std::thread([this] { watch(); });
}

StopRequest::~StopRequest() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], kSignals[i] == SIGUSR1 ? &ignored : &before[i], nullptr);
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  sem_post(&something_came);
  thread_.join();
}

int StopRequest::signal() const {
  const int own = own_signal;
  return own != 0 ? own : passed_on_.load();
}

const char* StopRequest::name() const {
  if (signal() == SIGUSR1) return "SIGUSR1";
  if (signal() == SIGINT) return "SIGINT";
  return is_by_launcher() ? "the launcher (which sends SIGTERM for Ctrl-C, too)" : "SIGTERM";
}

// mpirun and srun turn Ctrl-C into SIGTERM for their ranks.
bool StopRequest::is_by_launcher() const {
  return signal() == SIGTERM && own_signal == SIGTERM && came_from_parent && is_launched();
}

int StopRequest::exit_code() const { return signal() == SIGUSR1 ? kStopped : 128 + signal(); }

StopRequest::Orderly::Orderly(StopRequest& stop, std::function<void()> wake, std::function<bool()> keep)
    : stop_(stop) {
  const std::lock_guard lock(stop_.mutex_);
  stop_.is_orderly_ = true;
  stop_.wake_ = std::move(wake);
  stop_.keep_ = std::move(keep);
}

StopRequest::Orderly::~Orderly() {
  const std::lock_guard lock(stop_.mutex_);
  stop_.is_orderly_ = false;
  stop_.wake_ = nullptr;
  stop_.keep_ = nullptr;
}

StopRequest::Line::Line(StopRequest& stop, Job& job) : stop_(stop) {
  if (!job_has_started() || job.size() == 1) return;
  auto messages = std::make_unique<Messages>();
  if (!messages->work()) return;
  const std::lock_guard lock(stop_.mutex_);
  stop_.messages_ = std::move(messages);
  sem_post(&something_came);
}

StopRequest::Line::~Line() {
  come_too_late();
  const std::lock_guard lock(stop_.mutex_);
  stop_.messages_.reset();
}

void StopRequest::Line::abandon() {
  come_too_late();
  const std::lock_guard lock(stop_.mutex_);
  (void)stop_.messages_.release();  // never freed: to free them is to call MPI
}

void StopRequest::come_too_late() { too_late = true; }

/// The thread.
void StopRequest::watch() {
  bool is_settled = false;
  Clock::time_point since{};  // there is a request
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const bool root = launched_rank() == 0;
    const bool looks = messages_ != nullptr && (root || messages_->is_sending());
    const bool bides = asked() && (!is_settled || (root && keep_ != nullptr));
    lock.unlock();
    wait_for_something(looks || bides ? std::optional(kLookEvery) : std::nullopt);
    lock.lock();
    try {
      if (messages_ != nullptr) {
        if (const int signal = messages_->step(); signal != 0) passed_on_ = signal;
      }
      if (is_settled && root) keep_in_time(Clock::now() - since);
      if (!asked() || is_settled || too_late || ends_) continue;
      if (since == Clock::time_point{}) since = Clock::now();
      if (root) {
        if (!is_orderly_) end_at_once();
        if (wake_) wake_();
        is_settled = true;
      } else if (messages_ != nullptr) {
        messages_->pass_on(signal());
        is_settled = true;
      } else if (Clock::now() - since > kRootSpeaksFor) {
        end_at_once();
      }
    } catch (const std::
                 exception&) {  // the job is ending, or no memory; without messages a request ends this rank
      messages_.reset();
    }
  }
}

/// The launcher kills what has not ended a while after its SIGTERM: Open MPI by a parameter, which the ranks see.
void StopRequest::keep_in_time(Clock::duration since_asked) {
  const char* const kill_after = std::getenv("OMPI_MCA_odls_base_sigkill_timeout");
  const double seconds = kill_after != nullptr ? std::max(1.0, std::strtod(kill_after, nullptr)) : 1.0;
  const bool is_launchers = own_signal == SIGTERM && came_from_parent && is_launched();
  if (!keep_ || !is_launchers || too_late || ends_ ||
      since_asked < std::chrono::duration<double>(0.6 * seconds)) {
    return;
  }
  const auto keep = std::exchange(keep_, nullptr);
  if (keep()) end();
}

void StopRequest::end_at_once() const {
  const int rank = launched_rank();
  tell("papfft: {}{}ended by {} with work left; no incomplete file is left behind\n", note(),
       rank == 0 ? "" : fmt::format("rank {}: ", rank), name());
  end();
}

void StopRequest::end() const {
  io::unlink_pending_temporaries();
  if (messages_ != nullptr) abort_job(exit_code());
  _exit(exit_code());
}

}  // namespace papfft::app
