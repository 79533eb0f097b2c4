// SPDX-License-Identifier: MIT
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "papfft/errors.hpp"
#include "papfft/export.h"
#include "papfft/operation.hpp"
#include "papfft/options.hpp"
#include "papfft/reducer.hpp"

namespace papfft::comm {

class Farm;
class Observer;
class Transport;

/// One collective call, untyped. Sizes are in bytes and whole numbers of elements.
struct CallArguments {
  Operation operation = Operation::scatter;
  /// Of one rank's block (scatter, gather, allgather, reduce_scatter), of the vector (bcast, reduce, allreduce), or of
  /// all blocks together where block_bytes tells their sizes.
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;
  int root = 0;
  std::string_view algorithm = "auto";
  std::span<const std::byte> send = {};
  std::span<std::byte> recv = {};
  const Reducer* reducer = nullptr;
  std::span<const std::size_t> block_bytes = {};  ///< of each rank's block; empty: all are `bytes`
};

/// How a collective call went, for whoever measures.
struct CallStatistics {
  std::string_view algorithm;
  int segments = 0;              ///< of a block or of the vector; 0: the MPI library's own collective
  std::uint64_t bytes_sent = 0;  ///< by this rank
  std::uint64_t bytes_staged =
      0;  ///< received by way of the layer's memory instead of straight into the caller's
};

/// A stream of messages by which a link is measured. As it is: of messages such as segments, sent as those are.
struct LinkProbe {
  int sender = 0;
  int receiver = -1;  ///< -1: the last rank
  std::size_t short_bytes = 64;
  std::size_t long_bytes = 32768;  ///< more than short_bytes
  int messages = 64;
  int in_flight = 2;
};

/// A collective call that was started and goes on beside its caller: whoever waits for anything in the same group, and the
/// session's background thread if there is one, moves all calls on that have been started. The buffers belong to the call
/// until it is done. One thread at a time. Move-only; must not outlive its Collectives.
///
/// Destroying an unfinished one waits for it, as std::jthread joins: its messages use the caller's memory. While an
/// exception is under way, or once the group has failed, it is abandoned instead; the group is unusable then.
class PAPFFT_API Pending {
 public:
  /// Nothing is under way: done() is true.
  Pending() noexcept;
  Pending(Pending&&) noexcept;
  /// Waits for what this one held before, as its destructor does.
  Pending& operator=(Pending&&) noexcept;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending();

  /// Without moving anything on.
  [[nodiscard]] bool done() const noexcept;
  /// Moves on what has been started; never blocks. @return done(). @throws TransportError
  bool test();
  /// @throws as the blocking calls
  void wait();

 private:
  friend class Collectives;
  struct PAPFFT_LOCAL Body;
  explicit Pending(std::unique_ptr<Body> body);
  void end() noexcept;
  std::unique_ptr<Body> body_;
};

template <typename T>
concept Element = std::is_trivially_copyable_v<T>;

/// An operation on T is taken to be commutative unless this is specialised to false for its type.
template <typename Op>
inline constexpr bool is_commutative = true;

/// Collective operations among the ranks of a transport, by any algorithm of the registry; "auto" chooses by size, by whether
/// all ranks share a host and by how well their arrivals are predicted (comm/README.md has the rules), and "mpi" is the MPI
/// library's own collective, where there is one. "auto" takes that, too, for short messages, unless the operation is no
/// MPI_Op or Options::stuck_after is set, since nobody can watch it. A name of the registry with a `b` before it (bsls, bsbn,
/// ...) means: what can run in the background before the caller comes shall; only a Session has somebody who does so, else it is the same
/// as without. A number behind it ("circulant/64") is that of the segments, instead of the best by Options::link.
///
/// Every call is collective: all ranks make the same calls in the same order with agreeing arguments. Buffers may
/// be of any trivially copyable type and size, beyond 2 GiB too. One thread at a time.
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

  /// Block r of the root's `send` (P * recv.size() elements; ignored elsewhere) comes into rank r's `recv`.
  template <Element T>
  void scatter(std::span<const T> send, std::span<T> recv, int root, std::string_view algorithm = "auto") {
    scatter_bytes(std::as_bytes(send), std::as_writable_bytes(recv), sizeof(T), root, algorithm);
  }

  /// Rank r's `send` becomes block r of the root's `recv` (P * send.size() elements; ignored elsewhere).
  template <Element T>
  void gather(std::span<const T> send, std::span<T> recv, int root, std::string_view algorithm = "auto") {
    gather_bytes(std::as_bytes(send), std::as_writable_bytes(recv), sizeof(T), root, algorithm);
  }

  /// The root's `data` comes into everybody's.
  template <Element T>
  void bcast(std::span<T> data, int root, std::string_view algorithm = "auto") {
    bcast_bytes(std::as_writable_bytes(data), sizeof(T), root, algorithm);
  }

  /// recv[i] at the root becomes op over all ranks of send[i]; `recv` is ignored elsewhere, and may be `send`.
  /// If is_commutative<Op> is false, the ranks' values are combined in rank order.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduce(std::span<const T> send, std::span<T> recv, Op op, int root,
              std::string_view algorithm = "auto");

  /// Rank r's `send` becomes block r of everybody's `recv` (P * send.size() elements, of which `send` may be this rank's
  /// block itself).
  template <Element T>
  void allgather(std::span<const T> send, std::span<T> recv, std::string_view algorithm = "auto") {
    allgather_bytes(std::as_bytes(send), std::as_writable_bytes(recv), sizeof(T), algorithm);
  }

  /// The same for blocks of any sizes: counts[r] elements of rank r, which may be none. The blocks lie one behind the other
  /// in `recv`.
  template <Element T>
  void allgatherv(std::span<const T> send, std::span<T> recv, std::span<const std::size_t> counts,
                  std::string_view algorithm = "auto") {
    allgatherv_bytes(std::as_bytes(send), std::as_writable_bytes(recv), in_bytes(counts, sizeof(T)),
                     sizeof(T), algorithm);
  }

  /// recv[i] becomes op over all ranks of send[i], everywhere; `recv` may be `send`. All ranks get the same bits, except by
  /// the algorithm "census", where results of floating-point operations differ between ranks as their rounding does.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void allreduce(std::span<const T> send, std::span<T> recv, Op op, std::string_view algorithm = "auto");

  /// Block r of op over all ranks' `send` (P * recv.size() elements) comes into rank r's `recv`, which must not overlap it.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduce_scatter(std::span<const T> send, std::span<T> recv, Op op, std::string_view algorithm = "auto");

  /// The same for blocks of any sizes: counts[r] elements for rank r, which may be none.
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  void reduce_scatter(std::span<const T> send, std::span<T> recv, std::span<const std::size_t> counts, Op op,
                      std::string_view algorithm = "auto");

  /// Measures what messages cost between two ranks: three streams of short and three of long ones, of which the fastest
  /// count, each message answered by its receiver. Collective; takes as long as the messages, with the defaults some tens
  /// of milliseconds at 1 Gb/s. @return the same on all ranks, with the latency of Options::link; of a group of one, all of it
  /// @throws std::invalid_argument  no such ranks, or sizes that make no sense
  [[nodiscard]] LinkModel measure_link(const LinkProbe& probe = {});
  /// Numbers of segments, and of messages under way, are chosen by `link` from now on. Not a call among ranks, but must be the same on all.
  void use_link(const LinkModel& link);

  /// Completes the arguments of any operation from the buffers' sizes: `bytes`, and of a reduction `element_bytes`. The
  /// buffers are those of the typed calls; the own block of an allgather is brought to its place in `recv`.
  /// @throws std::invalid_argument  a buffer has another size than the operation needs on this rank
  [[nodiscard]] CallArguments prepared(CallArguments arguments) const;

  /// Any of them, untyped. What the others come down to.
  virtual void call(const CallArguments& arguments);

  /// The same, started and not waited for. Several may be under way at once, and blocking calls in between.
  ///
  /// Matched per operation: the n-th scatter that is started on one rank belongs to the n-th on the others. Started calls
  /// of different operations, and blocking calls, need no common order. A rank may start a call long after the others.
  /// Planned without arrival times, so that no rank's start waits for another's: an order that follows the ranks' coming
  /// is `credit`'s. Options::check_arguments does not see these calls; algorithm "mpi" has none.
  /// A root's own block in its place (send or recv inside of the whole buffer) is neither read nor written: the root may
  /// work on it while the call is under way.
  /// @throws std::invalid_argument  as the blocking calls, before any message; TransportError, if the group has failed
  template <Element T>
  [[nodiscard]] Pending iscatter(std::span<const T> send, std::span<T> recv, int root,
                                 std::string_view algorithm = "auto") {
    return start(prepared({.operation = Operation::scatter,
                           .element_bytes = sizeof(T),
                           .root = root,
                           .algorithm = algorithm,
                           .send = std::as_bytes(send),
                           .recv = std::as_writable_bytes(recv)}));
  }
  template <Element T>
  [[nodiscard]] Pending igather(std::span<const T> send, std::span<T> recv, int root,
                                std::string_view algorithm = "auto") {
    return start(prepared({.operation = Operation::gather,
                           .element_bytes = sizeof(T),
                           .root = root,
                           .algorithm = algorithm,
                           .send = std::as_bytes(send),
                           .recv = std::as_writable_bytes(recv)}));
  }
  template <Element T>
  [[nodiscard]] Pending ibcast(std::span<T> data, int root, std::string_view algorithm = "auto") {
    return start(prepared({.operation = Operation::bcast,
                           .element_bytes = sizeof(T),
                           .root = root,
                           .algorithm = algorithm,
                           .send = std::as_bytes(data),
                           .recv = std::as_writable_bytes(data)}));
  }
  template <Element T, typename Op>
  requires std::regular_invocable<const Op&, const T&, const T&>
  [[nodiscard]] Pending ireduce(std::span<const T> send, std::span<T> recv, Op op, int root,
                                std::string_view algorithm = "auto");

  /// Any of them, untyped. @param keep  lives until the call is done; for a reducer of its own
  [[nodiscard]] virtual Pending start(const CallArguments& arguments, std::shared_ptr<const void> keep = {});

  /// Waits until done() says so, which is asked whenever something may have happened, and moves on what has been started.
  /// @param idle_is_fine  no progress is no error: done() depends on others than the ranks
  /// @throws as the blocking calls
  void wait_until(const std::function<bool()>& done, bool idle_is_fine = false);

  /// The untyped calls behind these; sizes are in bytes and must be whole numbers of elements.
  void scatter_bytes(std::span<const std::byte> send, std::span<std::byte> recv, std::size_t element_bytes,
                     int root, std::string_view algorithm);
  void gather_bytes(std::span<const std::byte> send, std::span<std::byte> recv, std::size_t element_bytes,
                    int root, std::string_view algorithm);
  void bcast_bytes(std::span<std::byte> data, std::size_t element_bytes, int root,
                   std::string_view algorithm);
  void reduce_bytes(std::span<const std::byte> send, std::span<std::byte> recv, const Reducer& reducer,
                    int root, std::string_view algorithm);

  void allgather_bytes(std::span<const std::byte> send, std::span<std::byte> recv, std::size_t element_bytes,
                       std::string_view algorithm);
  void allgatherv_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                        std::span<const std::size_t> block_bytes, std::size_t element_bytes,
                        std::string_view algorithm);
  void allreduce_bytes(std::span<const std::byte> send, std::span<std::byte> recv, const Reducer& reducer,
                       std::string_view algorithm);
  /// @param block_bytes  of each rank; empty: all as large as this one's
  void reduce_scatter_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                            std::span<const std::size_t> block_bytes, const Reducer& reducer,
                            std::string_view algorithm);

  /// Returns on every rank after all have called it.
  void barrier();

  /// From now on `observer` is told of every call that its caller makes, once it has ended without an exception.
  /// @param observer  must outlive this object, or the next observe(); nullptr: nobody
  void observe(Observer* observer);

 protected:
  /// By the MPI library's own collective. @throws std::invalid_argument  there is none
  virtual void stock_call(const CallArguments& arguments);
  /// stock_call works here: "auto" may choose it.
  void offer_stock_calls();

  struct PAPFFT_LOCAL Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  friend class Farm;
  friend class Pending;

  [[nodiscard]] static std::vector<std::size_t> in_bytes(std::span<const std::size_t> counts,
                                                         std::size_t element_bytes) {
    std::vector<std::size_t> bytes(counts.begin(), counts.end());
    for (std::size_t& b : bytes) b *= element_bytes;
    return bytes;
  }

  std::unique_ptr<Impl> impl_;
};

}  // namespace papfft::comm

namespace papfft::comm {

template <Element T, typename Op>
requires std::regular_invocable<const Op&, const T&, const T&>
void Collectives::reduce(std::span<const T> send, std::span<T> recv, Op op, int root,
                         std::string_view algorithm) {
  const ElementReducer<T, Op> reducer(std::move(op), is_commutative<Op>);
  reduce_bytes(std::as_bytes(send), std::as_writable_bytes(recv), reducer, root, algorithm);
}

template <Element T, typename Op>
requires std::regular_invocable<const Op&, const T&, const T&> Pending Collectives::ireduce(
    std::span<const T> send, std::span<T> recv, Op op, int root, std::string_view algorithm) {
  const auto reducer = std::make_shared<const ElementReducer<T, Op>>(std::move(op), is_commutative<Op>);
  return start(prepared({.operation = Operation::reduce,
                         .root = root,
                         .algorithm = algorithm,
                         .send = std::as_bytes(send),
                         .recv = std::as_writable_bytes(recv),
                         .reducer = reducer.get()}),
               reducer);
}

template <Element T, typename Op>
requires std::regular_invocable<const Op&, const T&, const T&>
void Collectives::allreduce(std::span<const T> send, std::span<T> recv, Op op, std::string_view algorithm) {
  const ElementReducer<T, Op> reducer(std::move(op), is_commutative<Op>);
  allreduce_bytes(std::as_bytes(send), std::as_writable_bytes(recv), reducer, algorithm);
}

template <Element T, typename Op>
requires std::regular_invocable<const Op&, const T&, const T&>
void Collectives::reduce_scatter(std::span<const T> send, std::span<T> recv, Op op,
                                 std::string_view algorithm) {
  const ElementReducer<T, Op> reducer(std::move(op), is_commutative<Op>);
  reduce_scatter_bytes(std::as_bytes(send), std::as_writable_bytes(recv), {}, reducer, algorithm);
}

template <Element T, typename Op>
requires std::regular_invocable<const Op&, const T&, const T&>
void Collectives::reduce_scatter(std::span<const T> send, std::span<T> recv,
                                 std::span<const std::size_t> counts, Op op, std::string_view algorithm) {
  const ElementReducer<T, Op> reducer(std::move(op), is_commutative<Op>);
  reduce_scatter_bytes(std::as_bytes(send), std::as_writable_bytes(recv), in_bytes(counts, sizeof(T)),
                       reducer, algorithm);
}

}  // namespace papfft::comm
