// SPDX-License-Identifier: MIT
#include "comm/arrival/background.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <stdexcept>

namespace papfft::comm {

using namespace std::chrono_literals;

namespace {

std::int64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// What sched_getattr(2) fills in, in its first version. <linux/sched/types.h> has it, but cannot be included beside <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;  // of SCHED_OTHER: its slice
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

/// Linux lets a thread that computes go on for its slice, 1 to 3 ms, although another one wakes up on its core, unless that one has a
/// shorter slice (from 6.12 on; earlier kernels take no notice). This thread works for some microseconds at a time.
void ask_for_short_slices() {
  constexpr std::uint64_t kSliceNs = 100'000;  // the shortest that there is
  SchedulingAttributes mine;
  if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) != 0 || mine.policy != SCHED_OTHER) return;
  mine.flags = 0;
  mine.runtime_ns = kSliceNs;
  (void)syscall(SYS_sched_setattr, 0, &mine, 0);  // without it the thread only gets on more slowly
}

}  // namespace

Background::Background(const Settings& settings) : settings_(settings) {
  if (settings.shortest_nap <= 0ns || settings.longest_nap < settings.shortest_nap ||
      settings.longest_spin < 0ns) {
    throw std::invalid_argument("background: needs 0 < shortest_nap <= longest_nap and longest_spin >= 0");
  }
}

Background::~Background() { stop(); }

void Background::start() {
  if (thread_.joinable()) return;
  stopping_ = false;
  started_ = Clock::now();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the thread
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Background::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(wake_mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Background::add(BackgroundTask& task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks_.push_back({&task, Clock::time_point::max()});
  }
  notify();
}

void Background::remove(BackgroundTask& task) {
  const std::lock_guard lock(tasks_mutex_);
  std::erase_if(tasks_, [&](const Entry& e) { return e.task == &task; });
}

void Background::notify() noexcept {
  {
    const std::lock_guard lock(wake_mutex_);
    notified_ = true;
  }
  wake_.notify_one();
}

bool Background::step() {
  if (has_thread()) return false;
  const std::lock_guard lock(tasks_mutex_);
  bool any = false;
  for (const Entry& entry : tasks_) any = entry.task->step() || any;
  return any;
}

void Background::rethrow() const {
  const std::lock_guard lock(tasks_mutex_);
  if (error_) std::rethrow_exception(error_);
}

double Background::cpu_share() const {
  if (!has_thread()) return 0;
  const std::chrono::duration<double, std::nano> alive = Clock::now() - started_;
  return std::clamp(static_cast<double>(cpu_ns_.load()) / std::max(alive.count(), 1.0), 0.0, 1.0);
}

std::pair<bool, Background::Clock::time_point> Background::step_due() {
  const std::lock_guard lock(tasks_mutex_);
  bool any = false;
  auto earliest = Clock::time_point::max();
  if (error_) return {false, earliest};
  try {
    for (Entry& entry : tasks_) {
      entry.due = std::min(entry.due, entry.task->due());
      if (entry.due <= Clock::now() + settings_.together) {
        any = entry.task->step() || any;
        entry.due = entry.task->due();
      }
      earliest = std::min(earliest, entry.due);
    }
  } catch (...) {
    error_ = std::current_exception();
    return {false, Clock::time_point::max()};
  }
  return {any, earliest};
}

void Background::run() noexcept {
  ask_for_short_slices();
  std::chrono::nanoseconds nap = settings_.shortest_nap;
  auto last_nap = Clock::now();
  while (true) {
    const auto [any, earliest] = step_due();
    cpu_ns_ = thread_cpu_ns();
    const auto now = Clock::now();
    std::unique_lock lock(wake_mutex_);
    if (stopping_) return;
    if (any) {
      nap = settings_.shortest_nap;
      if (now - last_nap < settings_.longest_spin) continue;
    }
    // A task that is due already is polled after a nap, one that will be due is slept for.
    const auto until = std::max(earliest, now + nap);
    nap = std::min(2 * nap, settings_.longest_nap);
    if (wake_.wait_until(lock, until, [&] { return notified_ || stopping_; })) nap = settings_.shortest_nap;
    notified_ = false;
    last_nap = Clock::now();
  }
}

}  // namespace papfft::comm
