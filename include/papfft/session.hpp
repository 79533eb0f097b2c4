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
  /// The root of the operations that are planned by arrival times. Calls with another root are planned without them.
  int root = 0;
  /// A background thread, where MPI allows it (MPI_THREAD_MULTIPLE). Without it predictions still order the messages where
  /// nobody has to wait for the predictions, but nothing happens before a call.
  bool background = true;
  /// For tests: how far the local clock runs ahead.
  std::chrono::nanoseconds clock_offset{0};
};

struct SessionStatistics {
  bool has_thread = false;
  double thread_share = 0;  ///< CPU time of the background thread over its life
  std::int64_t calls = 0;
  /// Calls in which this rank's order followed predicted arrivals. In a linear scatter or gather only the root has an order.
  std::int64_t planned = 0;
  /// Calls before which all arrivals were predicted, but "auto" did not plan by them. Either the last predictions at this place in the
  /// program were hardly better than none, or they have not been compared with true arrivals often enough.
  std::int64_t distrusted = 0;
  std::int64_t begun_early = 0;  ///< calls that began before the caller arrived
  std::int64_t clock_uncertainty_ns = 0;
  std::int64_t predicted = 0;      ///< calls before which this rank's arrival was predicted
  std::int64_t mean_error_ns = 0;  ///< mean |predicted - true arrival| of these
  /// Predicted and true arrival of this rank at the last call, on rank 0's clock; no value if there was no prediction.
  std::optional<std::int64_t> predicted_ns;
  std::int64_t arrived_ns = 0;
};

/// A call whose arguments are given once, like MPI-4's persistent collectives. Session::scatter_init, gather_init and so on make
/// it. Between start() and wait() its `recv` belongs to the layer, so early data land there and need no copy. Only input that lies
/// there is the caller's until wait(): the root's data of a bcast, a rank's own block in its place, the `send` of a reduction that is
/// also its `recv`. start() also announces the call, so even the first one can begin early:
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
/// All ranks start and wait for the same calls, and make no other collective call of the session in between. `send` and
/// `recv` must live as long as the handle; so must a user's MPI_Op and datatypes. Move-only. Destroying it drops a call that has been started: do so on all
/// ranks or on none.
class PAPFFT_API PersistentCall {
 public:
  PersistentCall(PersistentCall&&) noexcept;
  PersistentCall& operator=(PersistentCall&&) noexcept;
  PersistentCall(const PersistentCall&) = delete;
  PersistentCall& operator=(const PersistentCall&) = delete;
  ~PersistentCall();

  /// Never waits. @throws StateError  a call has been started already, or the session has been closed
  void start();
  /// Collective. @throws StateError  the call has not been started, or the session has been closed; else as Collectives
  void wait();
  /// start() and wait(). Nothing comes early.
  void call();

  /// What Session::persistent returns. The type is the layer's own.
  explicit PersistentCall(std::unique_ptr<PersistentBody> body);

 private:
  [[nodiscard]] const PersistentBody& body() const;
  std::unique_ptr<PersistentBody> body_;
};

/// Collectives that know when the ranks will arrive (the papers' PAT functions). A rank arrives when it makes the call:
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
/// Algorithms that plan by arrival times then get the predicted arrivals of this iteration. All ranks get the same ones,
/// or none gets any. Of calls named with a `b`, what does not need the caller runs in the background. The session expects the
/// call that followed the present call the last time. So a program whose calls repeat in some order gains from its second
/// round on, and an unexpected call is served without early messages. The results are those of Collectives, whatever was
/// predicted.
///
/// A reduction begins early only if the session can keep a copy of its operation, to combine with before the next call: a
/// commutative operation of MPI's own (these are defined on MPI's own types only), or a commutative function object
/// without state. A user's MPI_Op cannot be kept: it may be freed as soon as a call has returned, its handle may then
/// mean another operation, and nobody has promised that its function may run in another thread while the caller computes.
/// So a reduction by such an operation begins with the call, whatever its datatype.
///
/// Early contributions are combined among themselves, and the caller's own contribution last. So floating-point sums may
/// round differently than without `b`, but alike from call to call. Memory: one vector for early contributions, besides
/// that of a call.
class PAPFFT_API Session : public Collectives {
 public:
  /// Collective; synchronises the clocks. @throws as Collectives
  explicit Session(Transport& transport, const Options& options = Options::from_environment(),
                   const SessionOptions& session = {});
  /// Closes the session, unless it is closed already or an exception is under way.
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
  /// Says that this fraction of the processing is done. From any thread; cheap. @throws std::invalid_argument unless in
  /// (0, 1]
  void edge(double fraction);
  void processing_end();

  /// Sets what "auto" means for an operation from now on; the same on all ranks. @throws std::invalid_argument unknown
  void use_algorithm(Operation operation, std::string_view algorithm);

  /// @throws StateError  a persistent call has been started and not yet waited for; else as Collectives
  void call(const CallArguments& arguments) override;

  /// The background thread, if there is one, moves the call on while its caller computes. The session expects and plans the
  /// other calls (call(), and persistent ones) as if this one did not exist.
  [[nodiscard]] Pending start(const CallArguments& arguments, std::shared_ptr<const void> keep = {}) override;

  /// Persistent calls of every operation: arguments as the blocking ones, of which the sizes and a reduction's operation are kept. Local.
  /// Only so can gatherv, scatterv and alltoallv begin before their callers come, because otherwise nobody knows the next call's
  /// sizes. @throws std::invalid_argument  as the blocking calls, at once
  template <Element T>
  [[nodiscard]] PersistentCall scatter_init(std::span<const T> send, std::span<T> recv, int root,
                                            std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::scatter, send, recv, root, algorithm);
  }
  template <Element T>
  [[nodiscard]] PersistentCall gather_init(std::span<const T> send, std::span<T> recv, int root,
                                           std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::gather, send, recv, root, algorithm);
  }
  template <Element T>
  [[nodiscard]] PersistentCall bcast_init(std::span<T> data, int root, std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::bcast, data, data, root, algorithm);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] PersistentCall reduce_init(std::span<const T> send, std::span<T> recv, Op op, int root,
                                           std::string_view algorithm = "auto") {
    return reduction_init<T>(Operation::reduce, send, recv, std::move(op), root, algorithm);
  }
  template <Element T>
  [[nodiscard]] PersistentCall allgather_init(std::span<const T> send, std::span<T> recv,
                                              std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::allgather, send, recv, 0, algorithm);
  }
  template <Element T>
  [[nodiscard]] PersistentCall allgatherv_init(std::span<const T> send, std::span<T> recv,
                                               std::span<const std::size_t> counts,
                                               std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::allgatherv, send, recv, 0, algorithm, required(counts));
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] PersistentCall allreduce_init(std::span<const T> send, std::span<T> recv, Op op,
                                              std::string_view algorithm = "auto") {
    return reduction_init<T>(Operation::allreduce, send, recv, std::move(op), 0, algorithm);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] PersistentCall reduce_scatter_init(std::span<const T> send, std::span<T> recv, Op op,
                                                   std::string_view algorithm = "auto") {
    return reduction_init<T>(Operation::reduce_scatter, send, recv, std::move(op), 0, algorithm);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] PersistentCall reduce_scatter_init(std::span<const T> send, std::span<T> recv,
                                                   std::span<const std::size_t> counts, Op op,
                                                   std::string_view algorithm = "auto") {
    return reduction_init<T>(Operation::reduce_scatter, send, recv, std::move(op), 0, algorithm, counts);
  }
  template <Element T>
  [[nodiscard]] PersistentCall alltoall_init(std::span<const T> send, std::span<T> recv,
                                             std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::alltoall, send, recv, 0, algorithm);
  }
  template <Element T>
  [[nodiscard]] PersistentCall alltoallv_init(std::span<const T> send,
                                              std::span<const std::size_t> send_counts, std::span<T> recv,
                                              std::span<const std::size_t> recv_counts,
                                              std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::alltoallv, send, recv, 0, algorithm, send_counts, recv_counts);
  }
  template <Element T>
  [[nodiscard]] PersistentCall gatherv_init(std::span<const T> send, std::span<T> recv,
                                            std::span<const std::size_t> counts, int root,
                                            std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::gatherv, send, recv, root, algorithm, counts);
  }
  template <Element T>
  [[nodiscard]] PersistentCall scatterv_init(std::span<const T> send, std::span<const std::size_t> counts,
                                             std::span<T> recv, int root,
                                             std::string_view algorithm = "auto") {
    return collective_init<T>(Operation::scatterv, send, recv, root, algorithm, counts);
  }

  /// Any operation, as collective() and reduction().
  template <Element T>
  [[nodiscard]] PersistentCall collective_init(Operation operation, std::span<const T> send,
                                               std::span<T> recv, int root = 0,
                                               std::string_view algorithm = "auto",
                                               std::span<const std::size_t> counts = {},
                                               std::span<const std::size_t> recv_counts = {}) {
    return persistent(typed<T>(operation, send, recv, root, algorithm, counts, recv_counts).arguments);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] PersistentCall reduction_init(Operation operation, std::span<const T> send, std::span<T> recv,
                                              Op op, int root = 0, std::string_view algorithm = "auto",
                                              std::span<const std::size_t> counts = {}) {
    const auto reducer = std::make_shared<const ElementReducer<T, Op>>(std::move(op), is_commutative<Op>);
    return persistent(typed<T>(operation, send, recv, root, algorithm, counts, {}, reducer.get()).arguments,
                      reducer);
  }
  /// Any operation, untyped. @param arguments  of which the sizes and the algorithm's name are copied
  /// @param keep  lives as long as the handle, for example the reducer and the copies
  [[nodiscard]] PersistentCall persistent(const CallArguments& arguments,
                                          std::shared_ptr<const void> keep = {});

  /// The time now, on rank 0's clock.
  [[nodiscard]] std::int64_t now_ns() const;
  [[nodiscard]] SessionStatistics statistics() const;

 private:
  std::unique_ptr<SessionCalls> calls_;
};

}  // namespace papfft::comm
