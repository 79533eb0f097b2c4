// SPDX-License-Identifier: MIT
#include "comm/arrival/background.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
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
