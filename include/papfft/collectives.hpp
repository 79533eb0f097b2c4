// SPDX-License-Identifier: MIT
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "papfft/errors.hpp"
#include "papfft/export.h"
#include "papfft/operation.hpp"
#include "papfft/options.hpp"
#include "papfft/reducer.hpp"

namespace papfft::comm {

class CallEngine;
class Observer;
class PendingCall;
class Transport;

/// What stands between a caller's memory and the bytes of a call, where these are copies.
class PAPFFT_API CallCopies {
 public:
  virtual ~CallCopies() = default;
  /// The caller has come: brings its input into the bytes that the call sends.
  virtual void pack() = 0;
  /// The call is done: brings the result to the caller. Called by whichever thread has ended the call.
  virtual void unpack() = 0;

 protected:
  CallCopies() = default;
  CallCopies(const CallCopies&) = default;
  CallCopies& operator=(const CallCopies&) = default;
};

/// One collective call, untyped. Sizes are in bytes and whole numbers of elements.
struct CallArguments {
  Operation operation = Operation::scatter;
  /// The size of one rank's block (scatter, gather, allgather, reduce_scatter), of what one rank has for another (alltoall) or of the
  /// vector (bcast, reduce, allreduce). Where block_bytes has the blocks' sizes, this is the size of all blocks together.
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;
  int root = 0;
  std::string_view algorithm = "auto";
  std::span<const std::byte> send = {};
  std::span<std::byte> recv = {};
  const Reducer* reducer = nullptr;
  /// Of each rank's block; of an alltoallv, of what this rank has for each. Empty: all are `bytes`. A gatherv and a scatterv need the
  /// sizes at the root alone.
  std::span<const std::size_t> block_bytes = {};
  std::span<const std::size_t> recv_block_bytes = {};  ///< of an alltoallv: of what this rank gets from each
  CallCopies* copies = nullptr;  ///< of send and recv; nullptr: they are the caller's own memory
};

/// How a collective call went: for benchmarks.
struct CallStatistics {
  std::string_view algorithm;
  int segments = 0;              ///< of a block or of the vector; 0: the MPI library's own collective
  std::uint64_t bytes_sent = 0;  ///< by this rank
  /// Bytes that were received into the layer's memory first, instead of straight into the caller's.
  std::uint64_t bytes_staged = 0;
  /// Who chose the algorithm: "the caller", "the rules", "a table" (it was the fastest for ranks that come together), "a table for
  /// unknown arrivals" (its worst slow-down is the least), or "a simulation" (the rules, compared with one on the measured links).
  std::string_view reason = {};
};

/// How guarded calls of one operation and about one size fared. A call is guarded if "auto" chose an algorithm of ours for it though the
/// MPI library could serve it (Options::guard).
struct GuardedCalls {
  Operation operation = Operation::scatter;
  std::size_t from_bytes = 0;  ///< and less than twice as many
  std::int64_t calls = 0;
  std::int64_t trials = 0;   ///< of these by the way that was not in use
  std::int64_t changes = 0;  ///< how often the other way was taken into use
  bool is_stock = false;     ///< the MPI library's way is in use now
};

/// A stream of messages by which a link is measured. The defaults are messages like segments, sent as segments are.
struct LinkProbe {
  int sender = 0;
  int receiver = -1;  ///< -1: the last rank
  std::size_t short_bytes = 64;
  std::size_t long_bytes = 32768;  ///< more than short_bytes
  int messages = 64;
  int in_flight = 2;
  /// Sent in long messages before the clock starts. A shaped link passes a burst at once before its rate shows; these must be
  /// more bytes than that.
  std::size_t burst_bytes = std::size_t{1} << 19U;
};

/// A collective call that was started and goes on beside its caller. Whoever waits for anything in the same group moves all
/// started calls on; so does the session's background thread, if there is one. The buffers belong to the call until it is
/// done. One thread at a time. Move-only; must not outlive its Collectives.
///
/// The destructor waits for an unfinished call, as std::jthread joins, because the call's messages use the caller's memory.
/// While an exception is under way, or once the group has failed, it abandons the call instead. The group is unusable then.
class PAPFFT_API Pending {
 public:
  /// Nothing is under way: done() is true.
  Pending() noexcept;
  Pending(Pending&&) noexcept;
  /// Waits for the call that this object held before, as the destructor does.
  Pending& operator=(Pending&&) noexcept;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending();

  /// Whether the call is done. Moves nothing on.
  [[nodiscard]] bool done() const noexcept;
  /// Moves all started calls on; never blocks. @return done(). @throws TransportError
  bool test();
  /// @throws as the blocking calls
  void wait();

  /// What Collectives::start returns. The types are the layer's own.
  Pending(CallEngine& engine, std::shared_ptr<PendingCall> call);

 private:
  void end() noexcept;
  CallEngine* engine_ = nullptr;
  std::shared_ptr<PendingCall> call_;
};

template <typename T>
concept Element = std::is_trivially_copyable_v<T>;

/// Whether an operation of type Op is commutative. Specialise this to false for one that is not.
template <typename Op>
inline constexpr bool is_commutative = true;

/// Collective operations among the ranks of a transport. `algorithm` names how:
///
/// - A name of the registry (`papfft algorithms` lists them), such as "bnom".
/// - The same with a `b` before it, such as "bsls": a Session runs in the background what does not need the caller.
///   Elsewhere the `b` changes nothing.
/// - The same with a number behind it, such as "circulant/64": in 64 segments, instead of the best number by Options::link.
/// - "mpi": the MPI library's own collective, where there is one.
/// - "auto": chosen by size, by whether all ranks share a host, and by how well their arrivals are predicted
///   (comm/README.md has the rules). It takes the MPI library's own collective for short messages, unless the operation is
///   no MPI_Op or Options::stuck_after is set (nobody can watch MPI's own collectives). For longer ones it tries the library now
///   and then, and keeps to what is faster (Options::guard).
///
/// Every call is collective: all ranks make the same calls in the same order, with agreeing arguments. Buffers may
/// be of any trivially copyable type and of any size, also beyond 2 GiB. One thread at a time.
/// @throws (all calls) std::invalid_argument  a buffer's size, the root or the algorithm makes no sense; thrown
///                     before any message
/// @throws             TransportError, StuckError, MismatchError; the group is unusable afterwards: end the job
class PAPFFT_API Collectives {
 public:
  /// @param transport  must outlive this object.
  explicit Collectives(Transport& transport, const Options& options = Options::from_environment());
  virtual ~Collectives();
  Collectives(Collectives&&) noexcept;
  Collectives& operator=(Collectives&&) = delete;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// How many ranks of the group share this rank's host.
  [[nodiscard]] int ranks_on_host() const;
  [[nodiscard]] const Options& options() const;
  [[nodiscard]] const CallStatistics& last_call() const;
  /// In the order of operations and sizes. Calls without a choice between two ways are not among them.
  [[nodiscard]] std::vector<GuardedCalls> guarded_calls() const;

  /// Block r of the root's `send` (P * recv.size() elements; ignored elsewhere) goes to rank r's `recv`.
  template <Element T>
  void scatter(std::span<const T> send, std::span<T> recv, int root, std::string_view algorithm = "auto") {
    collective<T>(Operation::scatter, send, recv, root, algorithm);
  }

  /// Rank r's `send` becomes block r of the root's `recv` (P * send.size() elements; ignored elsewhere).
  template <Element T>
  void gather(std::span<const T> send, std::span<T> recv, int root, std::string_view algorithm = "auto") {
    collective<T>(Operation::gather, send, recv, root, algorithm);
  }

  /// The root's `data` goes to everybody's `data`.
  template <Element T>
  void bcast(std::span<T> data, int root, std::string_view algorithm = "auto") {
    collective<T>(Operation::bcast, data, data, root, algorithm);
  }

  /// The root's recv[i] becomes the combination of all ranks' send[i]. The root's `recv` may be its `send`; the other ranks'
  /// `recv` is ignored. If is_commutative<Op> is false, the values are combined in rank order.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduce(std::span<const T> send, std::span<T> recv, Op op, int root,
              std::string_view algorithm = "auto") {
    reduction<T>(Operation::reduce, send, recv, std::move(op), root, algorithm);
  }

  /// Rank r's `send` becomes block r of everybody's `recv` (P * send.size() elements). `send` may be this rank's own
  /// block in `recv`.
  template <Element T>
  void allgather(std::span<const T> send, std::span<T> recv, std::string_view algorithm = "auto") {
    collective<T>(Operation::allgather, send, recv, 0, algorithm);
  }

  /// The same for blocks of any sizes: rank r has counts[r] elements, which may be 0. The blocks follow one another in
  /// `recv`.
  template <Element T>
  void allgatherv(std::span<const T> send, std::span<T> recv, std::span<const std::size_t> counts,
                  std::string_view algorithm = "auto") {
    collective<T>(Operation::allgatherv, send, recv, 0, algorithm, required(counts));
  }

  /// recv[i] becomes op over all ranks of send[i], everywhere; `recv` may be `send`. All ranks get the same bits. Only by
  /// the algorithm "census" floating-point results differ between ranks, because each rank rounds in another order.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void allreduce(std::span<const T> send, std::span<T> recv, Op op, std::string_view algorithm = "auto") {
    reduction<T>(Operation::allreduce, send, recv, std::move(op), 0, algorithm);
  }

  /// Block r of op over all ranks' `send` (P * recv.size() elements) goes to rank r's `recv`, which must not overlap
  /// `send`.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduce_scatter(std::span<const T> send, std::span<T> recv, Op op,
                      std::string_view algorithm = "auto") {
    reduction<T>(Operation::reduce_scatter, send, recv, std::move(op), 0, algorithm);
  }

  /// The same for blocks of any sizes: rank r gets counts[r] elements, which may be 0.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduce_scatter(std::span<const T> send, std::span<T> recv, std::span<const std::size_t> counts, Op op,
                      std::string_view algorithm = "auto") {
    reduction<T>(Operation::reduce_scatter, send, recv, std::move(op), 0, algorithm, counts);
  }

  /// Block t of rank s's `send` becomes block s of rank t's `recv`. Both have P blocks of one size, and must not overlap.
  template <Element T>
  void alltoall(std::span<const T> send, std::span<T> recv, std::string_view algorithm = "auto") {
    collective<T>(Operation::alltoall, send, recv, 0, algorithm);
  }

  /// The same for blocks of any sizes: this rank has send_counts[t] elements for rank t and gets recv_counts[s] elements from
  /// rank s. Any of them may be 0. The blocks follow one another in `send` and in `recv`.
  template <Element T>
  void alltoallv(std::span<const T> send, std::span<const std::size_t> send_counts, std::span<T> recv,
                 std::span<const std::size_t> recv_counts, std::string_view algorithm = "auto") {
    collective<T>(Operation::alltoallv, send, recv, 0, algorithm, send_counts, recv_counts);
  }

  /// gather() for blocks of any sizes: rank r's `send` becomes block r of the root's `recv`, in which the blocks follow one another.
  /// @param counts  elements of each rank's block, which may be 0; ignored elsewhere than at the root
  template <Element T>
  void gatherv(std::span<const T> send, std::span<T> recv, std::span<const std::size_t> counts, int root,
               std::string_view algorithm = "auto") {
    collective<T>(Operation::gatherv, send, recv, root, algorithm, counts);
  }

  /// scatter() for blocks of any sizes: block r of the root's `send`, in which the blocks follow one another, goes to rank r's
  /// `recv`. @param counts  as gatherv's
  template <Element T>
  void scatterv(std::span<const T> send, std::span<const std::size_t> counts, std::span<T> recv, int root,
                std::string_view algorithm = "auto") {
    collective<T>(Operation::scatterv, send, recv, root, algorithm, counts);
  }

  /// Measures what messages cost between two ranks. Sends three streams of short messages and three of long ones, each
  /// message answered by its receiver; the fastest stream of each kind counts. Collective. With the defaults it takes
  /// some tens of milliseconds at 1 Gb/s. @return the same on all ranks, with the latency of Options::link; in a group of
  /// one, Options::link
  /// @throws std::invalid_argument  no such ranks, or sizes that make no sense
  [[nodiscard]] LinkModel measure_link(const LinkProbe& probe = {});
  /// From now on `link` decides the numbers of segments and of messages under way. Not collective, but `link` must be the
  /// same on all ranks.
  void use_link(const LinkModel& link);

  /// Any operation that combines nothing, typed. Its row in papfft/operation.hpp says which rank needs which buffer.
  /// @param counts  elements of each rank's block, if the operation takes sizes; empty: all blocks have one size
  /// @param recv_counts  of an alltoallv, elements of what this rank gets from each
  template <Element T>
  void collective(Operation operation, std::span<const T> send, std::span<T> recv, int root = 0,
                  std::string_view algorithm = "auto", std::span<const std::size_t> counts = {},
                  std::span<const std::size_t> recv_counts = {}) {
    call(typed<T>(operation, send, recv, root, algorithm, counts, recv_counts).arguments);
  }
  /// The same for an operation that combines.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduction(Operation operation, std::span<const T> send, std::span<T> recv, Op op, int root = 0,
                 std::string_view algorithm = "auto", std::span<const std::size_t> counts = {}) {
    const ElementReducer<T, Op> reducer(std::move(op), is_commutative<Op>);
    call(typed<T>(operation, send, recv, root, algorithm, counts, {}, &reducer).arguments);
  }

  /// Completes the arguments of any operation from the buffers' sizes: `bytes`, and of a reduction `element_bytes`. The
  /// buffers are those of the typed calls.
  /// @throws std::invalid_argument  a buffer has another size than the operation needs on this rank
  [[nodiscard]] CallArguments prepared(CallArguments arguments) const;

  /// Any operation, untyped. All typed calls end here.
  virtual void call(const CallArguments& arguments);

  /// Every operation, started and not waited for: arguments as the blocking calls. Several started calls may be under way at once,
  /// with blocking calls in between.
  ///
  /// Calls are matched per operation: the n-th scatter that is started on one rank belongs to the n-th on the others.
  /// Started calls of different operations, and blocking calls, need no common order. A rank may start a call long after
  /// the others. Started calls are planned without arrival times, so that no rank's start waits for another's; the gather
  /// `credit` follows the order of arrival nevertheless. Options::check_arguments does not check them, and the algorithm
  /// "mpi" cannot be started. If a root's own block is in its place (send or recv inside of the whole buffer), the call
  /// neither reads nor writes it: the root may work on it while the call is under way.
  /// @throws std::invalid_argument  as the blocking calls, before any message; TransportError, if the group has failed
  template <Element T>
  [[nodiscard]] Pending iscatter(std::span<const T> send, std::span<T> recv, int root,
                                 std::string_view algorithm = "auto") {
    return icollective<T>(Operation::scatter, send, recv, root, algorithm);
  }
  template <Element T>
  [[nodiscard]] Pending igather(std::span<const T> send, std::span<T> recv, int root,
                                std::string_view algorithm = "auto") {
    return icollective<T>(Operation::gather, send, recv, root, algorithm);
  }
  template <Element T>
  [[nodiscard]] Pending ibcast(std::span<T> data, int root, std::string_view algorithm = "auto") {
    return icollective<T>(Operation::bcast, data, data, root, algorithm);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] Pending ireduce(std::span<const T> send, std::span<T> recv, Op op, int root,
                                std::string_view algorithm = "auto") {
    return ireduction<T>(Operation::reduce, send, recv, std::move(op), root, algorithm);
  }
  template <Element T>
  [[nodiscard]] Pending iallgather(std::span<const T> send, std::span<T> recv,
                                   std::string_view algorithm = "auto") {
    return icollective<T>(Operation::allgather, send, recv, 0, algorithm);
  }
  template <Element T>
  [[nodiscard]] Pending iallgatherv(std::span<const T> send, std::span<T> recv,
                                    std::span<const std::size_t> counts,
                                    std::string_view algorithm = "auto") {
    return icollective<T>(Operation::allgatherv, send, recv, 0, algorithm, required(counts));
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] Pending iallreduce(std::span<const T> send, std::span<T> recv, Op op,
                                   std::string_view algorithm = "auto") {
    return ireduction<T>(Operation::allreduce, send, recv, std::move(op), 0, algorithm);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] Pending ireduce_scatter(std::span<const T> send, std::span<T> recv, Op op,
                                        std::string_view algorithm = "auto") {
    return ireduction<T>(Operation::reduce_scatter, send, recv, std::move(op), 0, algorithm);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] Pending ireduce_scatter(std::span<const T> send, std::span<T> recv,
                                        std::span<const std::size_t> counts, Op op,
                                        std::string_view algorithm = "auto") {
    return ireduction<T>(Operation::reduce_scatter, send, recv, std::move(op), 0, algorithm, counts);
  }
  template <Element T>
  [[nodiscard]] Pending ialltoall(std::span<const T> send, std::span<T> recv,
                                  std::string_view algorithm = "auto") {
    return icollective<T>(Operation::alltoall, send, recv, 0, algorithm);
  }
  template <Element T>
  [[nodiscard]] Pending ialltoallv(std::span<const T> send, std::span<const std::size_t> send_counts,
                                   std::span<T> recv, std::span<const std::size_t> recv_counts,
                                   std::string_view algorithm = "auto") {
    return icollective<T>(Operation::alltoallv, send, recv, 0, algorithm, send_counts, recv_counts);
  }
  template <Element T>
  [[nodiscard]] Pending igatherv(std::span<const T> send, std::span<T> recv,
                                 std::span<const std::size_t> counts, int root,
                                 std::string_view algorithm = "auto") {
    return icollective<T>(Operation::gatherv, send, recv, root, algorithm, counts);
  }
  template <Element T>
  [[nodiscard]] Pending iscatterv(std::span<const T> send, std::span<const std::size_t> counts,
                                  std::span<T> recv, int root, std::string_view algorithm = "auto") {
    return icollective<T>(Operation::scatterv, send, recv, root, algorithm, counts);
  }

  /// Any operation, as collective() and reduction().
  template <Element T>
  [[nodiscard]] Pending icollective(Operation operation, std::span<const T> send, std::span<T> recv,
                                    int root = 0, std::string_view algorithm = "auto",
                                    std::span<const std::size_t> counts = {},
                                    std::span<const std::size_t> recv_counts = {}) {
    return start(typed<T>(operation, send, recv, root, algorithm, counts, recv_counts).arguments);
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] Pending ireduction(Operation operation, std::span<const T> send, std::span<T> recv, Op op,
                                   int root = 0, std::string_view algorithm = "auto",
                                   std::span<const std::size_t> counts = {}) {
    const auto reducer = std::make_shared<const ElementReducer<T, Op>>(std::move(op), is_commutative<Op>);
    return start(typed<T>(operation, send, recv, root, algorithm, counts, {}, reducer.get()).arguments,
                 reducer);
  }

  /// Any operation, untyped. @param keep  is kept until the call is done, for example the reducer and the copies
  [[nodiscard]] virtual Pending start(const CallArguments& arguments, std::shared_ptr<const void> keep = {});

  /// Moves all started calls on until done() is true. done() is asked whenever something may have happened.
  /// @param idle_is_fine  no progress is not an error, because done() depends on something else than the ranks
  /// @throws as the blocking calls
  void wait_until(const std::function<bool()>& done, bool idle_is_fine = false);

  /// Returns on every rank after all have called it.
  void barrier();

  /// From now on `observer` is told of every call, once the call has ended without an exception.
  /// @param observer  must live until the next observe(), or longer than this object; nullptr: nobody
  void observe(Observer* observer);

  /// What carries out the calls, for other parts of the layer. The type is the layer's own.
  [[nodiscard]] CallEngine& engine() { return *engine_; }

 protected:
  /// From now on "auto" chooses by what `papfft tune --collectives` measured. The same on all ranks.
  /// @param table  its text @param tuned_stock  stock_call knows the algorithms that the table names
  /// @throws std::invalid_argument  the text is no such table
  void use_decisions(std::string_view table, bool tuned_stock);

  /// Makes the call by the MPI library's own collective. @param arguments  `algorithm` says which of the library's algorithms,
  /// "mpi" or "mpi:3/64K" @throws std::invalid_argument  there is no MPI library
  virtual void stock_call(const CallArguments& arguments);
  /// Says that stock_call works here, so that "auto" may choose it.
  void offer_stock_calls();

  /// Arguments, and the sizes in bytes that they point to.
  struct SizedArguments {
    std::vector<std::size_t> block_bytes;
    std::vector<std::size_t> recv_block_bytes;
    CallArguments arguments;
  };
  /// What all forms of a typed call come down to. @throws std::invalid_argument  as prepared()
  template <Element T>
  [[nodiscard]] SizedArguments typed(Operation operation, std::span<const T> send, std::span<T> recv,
                                     int root, std::string_view algorithm,
                                     std::span<const std::size_t> counts,
                                     std::span<const std::size_t> recv_counts,
                                     const Reducer* reducer = nullptr) const {
    SizedArguments made{in_bytes(counts, sizeof(T)), in_bytes(recv_counts, sizeof(T)), {}};
    made.arguments = prepared({.operation = operation,
                               .element_bytes = sizeof(T),
                               .root = root,
                               .algorithm = algorithm,
                               .send = std::as_bytes(send),
                               .recv = std::as_writable_bytes(recv),
                               .reducer = reducer,
                               .block_bytes = made.block_bytes,
                               .recv_block_bytes = made.recv_block_bytes});
    return made;
  }
  /// Of an allgatherv. @throws std::invalid_argument  there are none
  [[nodiscard]] static std::span<const std::size_t> required(std::span<const std::size_t> counts) {
    if (counts.empty()) throw std::invalid_argument("allgatherv: needs the size of each rank's block");
    return counts;
  }

 private:
  [[nodiscard]] static std::vector<std::size_t> in_bytes(std::span<const std::size_t> counts,
                                                         std::size_t element_bytes) {
    std::vector<std::size_t> bytes(counts.begin(), counts.end());
    for (std::size_t& b : bytes) b *= element_bytes;
    return bytes;
  }

  std::unique_ptr<CallEngine> engine_;
};

}  // namespace papfft::comm
