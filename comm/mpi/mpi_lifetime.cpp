// SPDX-License-Identifier: MIT
#include "comm/mpi/mpi_lifetime.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/mpi/mpi_transport.hpp"
#include "papfft/errors.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

/// What is to be done when MPI ends. Shared with whoever asked for it, who may forget it.
struct detail::AtMpiEnd::Task {
  std::mutex mutex;  // held while it is being done
  std::function<void()> what;

  void run() noexcept {
    const std::lock_guard lock(mutex);
    const std::function<void()> now = std::exchange(what, nullptr);
    if (!now) return;
    try {
      now();
    } catch (...) {  // MPI_Finalize goes on, and has nobody to tell
    }
  }
  void forget() noexcept {
    const std::lock_guard lock(mutex);
    what = nullptr;
  }
};

namespace {

std::atomic<bool> has_ended{false};

/// Never destroyed: sessions may be, after it would have been.
class Tasks {
 public:
  using Task = std::shared_ptr<detail::AtMpiEnd::Task>;

  static Tasks& all() {
    static auto* const tasks = new Tasks;
    return *tasks;
  }

  void add(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  void remove(const Task& task) {
    const std::lock_guard lock(mutex_);
    std::erase(tasks_, task);
  }
  /// The youngest first. Sessions are made by all their ranks together, so all ranks end theirs in orders that agree.
  void run() noexcept {
    while (const Task task = take()) task->run();
  }

 private:
  Task take() noexcept {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return nullptr;
    Task task = std::move(tasks_.back());
    tasks_.pop_back();
    return task;
  }

  std::mutex mutex_;
  std::vector<Task> tasks_;
};

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else, while messages can still be sent.
int end_with_mpi(MPI_Comm /*self*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  Tasks::all().run();
  has_ended.store(true, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

}  // namespace

void require_mpi() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0) throw StateError("papfft: MPI_Init has not been called yet");
  if (finalized != 0 || mpi_has_ended()) throw StateError("papfft: MPI_Finalize has already been called");
}

bool mpi_has_ended() noexcept { return has_ended.load(std::memory_order_relaxed); }

void watch_mpi_end() {
  static std::once_flag once;
  std::call_once(once, [] {
    int keyval = MPI_KEYVAL_INVALID;
    PAPFFT_MPI(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, end_with_mpi, &keyval, nullptr);
    PAPFFT_MPI(MPI_Comm_set_attr, MPI_COMM_SELF, keyval, nullptr);
    PAPFFT_MPI(MPI_Comm_free_keyval, &keyval);  // goes with its last attribute
  });
}

detail::AtMpiEnd::AtMpiEnd(std::function<void()> what) : task_(std::make_shared<Task>()) {
  task_->what = std::move(what);
  watch_mpi_end();
  Tasks::all().add(task_);
}

detail::AtMpiEnd::~AtMpiEnd() {
  Tasks::all().remove(task_);
  task_->forget();
}

}  // namespace papfft::comm
