// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "papfft/collectives.hpp"

namespace papfft::comm {

class PersistentBody;
class SessionCalls;

struct SessionOptions {
  /// Calls with this root are planned by arrival times; calls with another root are not.
  int root = 0;
  /// A background thread, where MPI allows one (MPI_THREAD_MULTIPLE). Without the thread, predictions still order the messages
  /// where no rank has to wait for a prediction, but nothing happens before a call.
  bool background = true;
  /// For tests: the local clock runs ahead by so much.
  std::chrono::nanoseconds clock_offset{0};
};

struct SessionStatistics {
  bool has_thread = false;
  double thread_share = 0;  ///< CPU time of the background thread over its life
  std::int64_t calls = 0;
  std::int64_t planned = 0;      ///< calls whose order followed predicted arrivals
  std::int64_t begun_early = 0;  ///< calls of which something ran before the caller came
  std::int64_t clock_uncertainty_ns = 0;
  std::int64_t predicted = 0;      ///< calls before which this rank's arrival was predicted
  std::int64_t mean_error_ns = 0;  ///< mean |predicted - true arrival| of these
  /// Of the last call: predicted and true arrival of this rank, on rank 0's clock; nothing if there was no prediction.
  std::optional<std::int64_t> predicted_ns;
  std::int64_t arrived_ns = 0;
};

/// A scatter or gather whose arguments are given once, like MPI-4's persistent collectives. Session::scatter_init and
/// gather_init make it. Between start() and wait() its `recv` belongs to the layer, so that early data land there at once
/// instead of in a buffer of the layer. The session expects the call even if it has never happened before:
///
/// ```cpp
/// papfft::comm::MpiSession session(MPI_COMM_WORLD);
/// papfft::comm::PersistentCall gather = session.gather_init<double>(mine, whole, 0, "bsls");
/// for (int i = 0; i < iterations; ++i) {
///   gather.start();                // whole is free to be overwritten
///   session.processing_start();
///   first_half();
///   session.edge(0.5);
///   second_half();
///   session.processing_end();
///   gather.wait();                 // mine is ready; then whole is
/// }
/// ```
///
/// All ranks start and wait in the same order, and make no other collective call of the session in between. `send` and `recv`
/// must live as long as the handle. Move-only. Destroying it drops a call that has been started; do that on all ranks or on
/// none.
class PAPFFT_API PersistentCall {
 public:
  PersistentCall(PersistentCall&&) noexcept;
  PersistentCall& operator=(PersistentCall&&) noexcept;
  PersistentCall(const PersistentCall&) = delete;
  PersistentCall& operator=(const PersistentCall&) = delete;
  ~PersistentCall();

  /// Never waits. @throws StateError  a call has been started already, or the session has been closed
  void start();
  /// Collective. @throws StateError  it has not been started, or the session has been closed; else as Collectives
  void wait();
  /// start() and wait(): nothing comes early.
  void call();

  /// What Session::scatter_init and gather_init return. The type is the layer's own.
  explicit PersistentCall(std::unique_ptr<PersistentBody> body);

 private:
  [[nodiscard]] const PersistentBody& body() const;
  std::unique_ptr<PersistentBody> body_;
};

/// Collectives that know when the ranks will come (the papers' PAT functions):
///
/// ```cpp
/// papfft::comm::MpiSession session(MPI_COMM_WORLD);
/// for (int i = 0; i < iterations; ++i) {
///   session.processing_start();
///   first_half();
///   session.edge(0.5);              // half is done; any thread, any number of times
///   second_half();
///   session.processing_end();
///   session.gather<double>(mine, whole, 0, "bsls");
/// }
/// ```
///
/// Algorithms that plan by arrival times then see this iteration's arrival times. All ranks see the same ones, or all see none.
/// Calls named with a `b` begin in the background, as far as they do not need the caller. The session expects the call that
/// followed the present one the last time. So a program whose calls repeat in some order gains from its second round on. A
/// call that was not expected has no early messages. Results are those of Collectives, whatever was predicted.
///
/// A reduction can begin early only if the session can keep a copy of its operation. So the operation must be commutative, and
/// either one of MPI's own or a function object without state. A user's MPI_Op cannot be kept: the program may free it when a
/// call has returned, its handle may mean another operation then, and nobody has promised that its function may run in
/// another thread. A reduction with a user's MPI_Op begins with the call. Early contributions are combined among each other
/// first, and the caller's own comes last. So sums of floating-point numbers may be rounded differently than without `b`, but
/// in the same way in each call. Memory: one vector for what comes early, besides that of Execution.
class PAPFFT_API Session : public Collectives {
 public:
  /// Collective: synchronises the clocks. @throws as Collectives
  explicit Session(Transport& transport, const Options& options = Options::from_environment(),
                   const SessionOptions& session = {});
  /// Closes, if that has not been done and no exception is under way.
  ~Session() override;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Ends the background activity. Collective. Afterwards only processing_*, edge and the statistics may be called.
  void close();
  /// The same after an error, without telling the other ranks. What they do then is undefined: end the job.
  void abandon() noexcept;

  void processing_start();
  /// `fraction` of this processing is done. From any thread; cheap. @throws std::invalid_argument unless in (0, 1]
  void edge(double fraction);
  void processing_end();

  /// From now on "auto" means this algorithm for this operation. The same on all ranks. @throws std::invalid_argument unknown
  void use_algorithm(Operation operation, std::string_view algorithm);

  /// @throws StateError  a persistent call has been started and not been waited for; else as Collectives
  void call(const CallArguments& arguments) override;

  /// The background thread, if there is one, moves the call on while its caller computes. The session expects and plans other
  /// calls as if this one did not exist.
  [[nodiscard]] Pending start(const CallArguments& arguments, std::shared_ptr<const void> keep = {}) override;

  /// Arguments as scatter() and gather(). Local. @throws std::invalid_argument  as these, at once
  template <Element T>
  [[nodiscard]] PersistentCall scatter_init(std::span<const T> send, std::span<T> recv, int root,
                                            std::string_view algorithm = "auto") {
    return persistent(prepared({.operation = Operation::scatter,
                                .element_bytes = sizeof(T),
                                .root = root,
                                .algorithm = algorithm,
                                .send = std::as_bytes(send),
                                .recv = std::as_writable_bytes(recv)}));
  }
  template <Element T>
  [[nodiscard]] PersistentCall gather_init(std::span<const T> send, std::span<T> recv, int root,
                                           std::string_view algorithm = "auto") {
    return persistent(prepared({.operation = Operation::gather,
                                .element_bytes = sizeof(T),
                                .root = root,
                                .algorithm = algorithm,
                                .send = std::as_bytes(send),
                                .recv = std::as_writable_bytes(recv)}));
  }

  /// Now, on rank 0's clock.
  [[nodiscard]] std::int64_t now_ns() const;
  [[nodiscard]] SessionStatistics statistics() const;

 private:
  [[nodiscard]] PersistentCall persistent(const CallArguments& arguments);
  std::unique_ptr<SessionCalls> calls_;
};

}  // namespace papfft::comm
