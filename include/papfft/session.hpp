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

struct SessionOptions {
  /// The root of the operations that shall be planned by arrival times; calls with another root go without.
  int root = 0;
  /// A background thread, where MPI allows it (MPI_THREAD_MULTIPLE). Without it predictions still order the messages, as
  /// far as nobody has to wait for them, but nothing happens before a call.
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

/// A scatter or gather whose arguments were given once, as MPI-4's persistent collectives: made by Session::scatter_init
/// and gather_init. Between start() and wait() its `recv` belongs to the layer, so that what comes early lands there and
/// not in staging; and the call need not have happened before to be expected:
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
/// All ranks start and wait alike, and make no other collective call of the session in between. `send` and `recv` must
/// live as long as the handle. Move-only; destroying it drops a call that has been started, on all ranks or on none.
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

 private:
  friend class Session;
  struct PAPFFT_LOCAL Body;
  explicit PersistentCall(std::unique_ptr<Body> body);
  [[nodiscard]] Body& body() const;
  std::unique_ptr<Body> body_;
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
/// Algorithms that plan by arrival times then see this iteration's, the same on all ranks or none at all; and calls named
/// with a `b` run in the background what does not need the caller. The session expects what followed the present call
/// the last time: a program whose calls repeat in some order gains from its second round on; a call that was not expected
/// is served without early messages. Results are those of Collectives, whatever was predicted.
///
/// A reduction begins early if its operation is commutative and one of MPI's own (these are defined on MPI's own types only),
/// or a function object without state: only of these a copy can be kept, to combine with before the next call. A user's
/// MPI_Op may be freed as soon as a call has returned, and its handle may then mean another one; MPI has no way to keep one,
/// and nobody has promised that its function may run in another thread while the caller computes. So a reduction by it, of
/// any datatype, begins with the call. What comes early is combined
/// among itself and the caller's own contribution last, so sums of floating-point numbers may round otherwise than without
/// `b`, though alike from call to call. Memory: one vector for what comes early, besides that of Execution.
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

  /// Ends the background activity. Collective; only processing_*, edge and the statistics may follow.
  void close();
  /// The same without a word to the others, after an error. What they do then is undefined: end the job.
  void abandon() noexcept;

  void processing_start();
  /// `fraction` of this processing is done. From any thread; cheap. @throws std::invalid_argument unless in (0, 1]
  void edge(double fraction);
  void processing_end();

  /// What "auto" means for an operation from now on. The same on all ranks. @throws std::invalid_argument unknown
  void use_algorithm(Operation operation, std::string_view algorithm);

  /// @throws StateError  a persistent call has been started and not been waited for; else as Collectives
  void call(const CallArguments& arguments) override;

  /// The background thread, if there is one, moves the call on while its caller computes. Calls in turn (call(), start() and
  /// wait() of persistent ones) are expected and planned as if it were not there.
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
  friend class PersistentCall;
  struct PAPFFT_LOCAL State;

  [[nodiscard]] PersistentCall persistent(const CallArguments& arguments);
  void serve(const PersistentCall::Body* started, const CallArguments& arguments);
  bool expect_successor(std::int64_t iteration, std::optional<Operation> but_not);
  void begin_early(std::span<std::byte> recv, const Reducer* reducer, std::int64_t iteration);
  void end_handles();

  std::unique_ptr<State> state_;
};

}  // namespace papfft::comm
