// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/bench/stock_peer.hpp"
#include "comm/mpi/mpi_buffer.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using comm::CallArguments;
using comm::check_mpi;
using comm::Operation;
using comm::Rank;

/// What is counted: bytes, or the elements of a reduction.
struct Unit {
  MPI_Datatype type = MPI_BYTE;
  std::size_t bytes = 1;
  MPI_Op op = MPI_OP_NULL;
};

/// Parts of a buffer, one after another, in units.
struct Parts {
  std::vector<int> counts;
  std::vector<int> offsets;

  explicit Parts(std::vector<int> counts_in) : counts(std::move(counts_in)), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  }
  /// `total` units in `n` parts that differ by one at most.
  static Parts even(std::size_t total, int n) {
    const auto parts = static_cast<std::size_t>(n);
    std::vector<int> counts(parts, static_cast<int>(total / parts));
    for (std::size_t i = 0; i < total % parts; ++i) ++counts[i];
    return Parts(std::move(counts));
  }
  [[nodiscard]] bool are_equal() const {
    return std::ranges::all_of(counts, [&](int c) { return c == counts.front(); });
  }
  [[nodiscard]] std::size_t total() const {
    return static_cast<std::size_t>(counts.back()) + static_cast<std::size_t>(offsets.back());
  }
};

/// MPI's calls on parts. The calls for parts of one size are used where they may be: MPI libraries do them better.
class Group {
 public:
  Group(MPI_Comm comm, int color, int key) : comm_(split(comm, color, key)) {
    MPI_Comm_rank(comm_.get(), &rank_);
  }

  [[nodiscard]] MPI_Comm get() const { return comm_.get(); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(rank_); }

  /// @param to  at the root also MPI_IN_PLACE
  void scatter(const std::byte* all, void* to, const Parts& parts, Unit unit, int root) const {
    const int n = parts.counts[rank()];
    check_mpi(parts.are_equal() ? MPI_Scatter(all, n, unit.type, to, n, unit.type, root, get())
                                : MPI_Scatterv(all, parts.counts.data(), parts.offsets.data(), unit.type, to,
                                               n, unit.type, root, get()),
              "MPI_Scatter");
  }

  void gather(const std::byte* mine, std::byte* all, const Parts& parts, Unit unit, int root) const {
    const int n = parts.counts[rank()];
    check_mpi(parts.are_equal() ? MPI_Gather(mine, n, unit.type, all, n, unit.type, root, get())
                                : MPI_Gatherv(mine, n, unit.type, all, parts.counts.data(),
                                              parts.offsets.data(), unit.type, root, get()),
              "MPI_Gather");
  }

  /// @param from  also MPI_IN_PLACE
  void allgather(const void* from, std::byte* all, const Parts& parts, Unit unit) const {
    const int n = parts.counts[rank()];
    check_mpi(parts.are_equal() ? MPI_Allgather(from, n, unit.type, all, n, unit.type, get())
                                : MPI_Allgatherv(from, n, unit.type, all, parts.counts.data(),
                                                 parts.offsets.data(), unit.type, get()),
              "MPI_Allgather");
  }

  void reduce_scatter(const std::byte* all, std::byte* mine, const Parts& parts, Unit unit) const {
    check_mpi(parts.are_equal()
                  ? MPI_Reduce_scatter_block(all, mine, parts.counts.front(), unit.type, unit.op, get())
                  : MPI_Reduce_scatter(all, mine, parts.counts.data(), unit.type, unit.op, get()),
              "MPI_Reduce_scatter");
  }

 private:
  static MPI_Comm split(MPI_Comm comm, int color, int key) {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm, color, key, &made), "MPI_Comm_split");
    return made;
  }

  StockComm comm_;
  int rank_ = 0;
};

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &made), "MPI_Comm_dup");
  return made;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

class Lanes final : public StockPeer {
 public:
  Lanes(MPI_Comm comm, const comm::Hosts& hosts)
      : hosts_(hosts),
        count_(static_cast<int>(hosts.members(0).size())),
        all_(duplicate(comm)),
        rank_(rank_in(comm)),
        inside_(comm, hosts.of(rank_), lane_of(rank_)),
        among_(comm, lane_of(rank_), hosts.of(rank_)) {
    for (int lane = 0; lane < count_; ++lane) {
      for (int h = 0; h < hosts.count(); ++h) order_.push_back(rank_at(h, lane));
    }
    is_in_order_ = std::ranges::is_sorted(order_);
  }

  void call(const CallArguments& a) override {
    const bool has_blocks = comm::traits(a.operation).is_per_rank() && a.block_bytes.empty();
    if (a.bytes * (has_blocks ? order_.size() : 1) >
        static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::invalid_argument("mpi-lane: MPI's own collectives take at most 2 GiB");
    if (count_ == 1 || hosts_.count() == 1) {
      comm::detail::mpi_stock_call(all_.get(), a);
      return;
    }
    switch (a.operation) {
      case Operation::bcast:
        return bcast(a);
      case Operation::reduce:
        return reduce(a);
      case Operation::allreduce:
        return allreduce(a);
      case Operation::scatter:
        return scatter(a);
      case Operation::gather:
        return gather(a);
      case Operation::allgather:
      case Operation::allgatherv:
        return allgather(a);
      case Operation::reduce_scatter:
        return reduce_scatter(a);
      default:
        throw std::invalid_argument("mpi-lane: there is no " + std::string(comm::to_string(a.operation)));
    }
  }

 private:
  [[nodiscard]] int lane_of(Rank rank) const {
    const std::vector<Rank>& members = hosts_.members(hosts_.of(rank));
    return static_cast<int>(std::ranges::find(members, rank) - members.begin());
  }
  [[nodiscard]] Rank rank_at(int host, int lane) const {
    return hosts_.members(host)[static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] bool is_with(Rank root) const { return hosts_.of(root) == hosts_.of(rank_); }

  static Unit unit_of(const CallArguments& a) {
    const auto* reducer = dynamic_cast<const comm::MpiReducer*>(a.reducer);
    if (reducer == nullptr) throw std::invalid_argument("mpi-lane: needs one of MPI's operations");
    return {reducer->type(), a.element_bytes, reducer->op()};
  }

  void bcast(const CallArguments& a) {
    const Parts parts = Parts::even(a.bytes, count_);
    std::byte* const whole = a.recv.data();
    std::byte* const mine = whole + parts.offsets[inside_.rank()];
    if (is_with(a.root)) {
      void* const to = rank_ == a.root ? MPI_IN_PLACE : mine;
      inside_.scatter(whole, to, parts, {}, lane_of(a.root));
    }
    check_mpi(MPI_Bcast(mine, parts.counts[inside_.rank()], MPI_BYTE, hosts_.of(a.root), among_.get()),
              "MPI_Bcast");
    inside_.allgather(MPI_IN_PLACE, whole, parts, {});
  }

  void reduce(const CallArguments& a) {
    const Unit unit = unit_of(a);
    const Parts parts = Parts::even(a.bytes / unit.bytes, count_);
    const int n = parts.counts[inside_.rank()];
    std::byte* const mine = sum_inside(a.send.data(), parts, unit);
    const bool with_root = is_with(a.root);
    check_mpi(MPI_Reduce(with_root ? MPI_IN_PLACE : mine, mine, n, unit.type, unit.op, hosts_.of(a.root),
                         among_.get()),
              "MPI_Reduce");
    if (with_root) inside_.gather(mine, a.recv.data(), parts, unit, lane_of(a.root));
  }

  void allreduce(const CallArguments& a) {
    const Unit unit = unit_of(a);
    const Parts parts = Parts::even(a.bytes / unit.bytes, count_);
    const int n = parts.counts[inside_.rank()];
    std::byte* const mine = sum_inside(a.send.data(), parts, unit);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, mine, n, unit.type, unit.op, among_.get()), "MPI_Allreduce");
    inside_.allgather(mine, a.recv.data(), parts, unit);
  }

  void scatter(const CallArguments& a) {
    const Blocks blocks(*this, a, 1);
    const bool with_root = is_with(a.root);
    const std::byte* const staged = rank_ == a.root ? stage(blocks, a.send.data(), 1) : nullptr;
    std::byte* const mine = room(share_, blocks.of_lanes.counts[inside_.rank()]);
    if (with_root) inside_.scatter(staged, mine, blocks.of_lanes, {}, lane_of(a.root));
    among_.scatter(mine, a.recv.data(), blocks.of_hosts, {}, hosts_.of(a.root));
  }

  void gather(const CallArguments& a) {
    const Blocks blocks(*this, a, 1);
    const bool apart = rank_ == a.root && !is_in_order_;
    std::byte* const mine = room(share_, blocks.of_lanes.counts[inside_.rank()]);
    among_.gather(a.send.data(), mine, blocks.of_hosts, {}, hosts_.of(a.root));
    if (!is_with(a.root)) return;
    std::byte* const staged = apart ? room(staged_, blocks.total()) : a.recv.data();
    inside_.gather(mine, staged, blocks.of_lanes, {}, lane_of(a.root));
    if (apart) unstage(blocks, staged, a.recv.data());
  }

  void allgather(const CallArguments& a) {
    const Blocks blocks(*this, a, 1);
    std::byte* const staged = is_in_order_ ? a.recv.data() : room(staged_, blocks.total());
    const bool is_in_place =
        is_in_order_ && a.send.data() == staged + blocks.of_ranks.offsets[static_cast<std::size_t>(rank_)];
    const void* const from = is_in_place ? MPI_IN_PLACE : static_cast<const void*>(a.send.data());
    among_.allgather(from, staged + blocks.of_lanes.offsets[inside_.rank()], blocks.of_hosts, {});
    inside_.allgather(MPI_IN_PLACE, staged, blocks.of_lanes, {});
    if (!is_in_order_) unstage(blocks, staged, a.recv.data());
  }

  void reduce_scatter(const CallArguments& a) {
    const Unit unit = unit_of(a);
    const Blocks blocks(*this, a, unit.bytes);
    const std::byte* const staged = stage(blocks, a.send.data(), unit.bytes);
    std::byte* const mine = sum_inside(staged, blocks.of_lanes, unit);
    among_.reduce_scatter(mine, a.recv.data(), blocks.of_hosts, unit);
  }

  /// The ranks' blocks, staged lane by lane, and host by host within a lane, as the two steps want them.
  struct Blocks {
    std::vector<Rank> const& order;
    Parts of_ranks;  ///< in the caller's buffer
    Parts of_lanes;  ///< all blocks of each lane
    Parts of_hosts;  ///< the blocks of this rank's lane

    Blocks(const Lanes& lanes, const CallArguments& a, std::size_t unit_bytes)
        : order(lanes.order_),
          of_ranks(counts(lanes, a, unit_bytes)),
          of_lanes(sums(lanes)),
          of_hosts(of_lane(lanes)) {}

    [[nodiscard]] std::size_t total() const { return of_ranks.total(); }

    /// Calls do_block(its place among the staged ones, its place in the caller's buffer, its size).
    template <typename Do>
    void each(Do do_block) const {
      std::size_t at = 0;
      for (const Rank r : order) {
        const auto i = static_cast<std::size_t>(r);
        const auto n = static_cast<std::size_t>(of_ranks.counts[i]);
        do_block(at, static_cast<std::size_t>(of_ranks.offsets[i]), n);
        at += n;
      }
    }

   private:
    static std::vector<int> counts(const Lanes& lanes, const CallArguments& a, std::size_t unit_bytes) {
      const std::size_t ranks = lanes.order_.size();
      std::vector<int> counts(ranks, static_cast<int>(a.bytes / unit_bytes));
      for (std::size_t r = 0; r < a.block_bytes.size(); ++r)
        counts[r] = static_cast<int>(a.block_bytes[r] / unit_bytes);
      return counts;
    }
    [[nodiscard]] std::vector<int> sums(const Lanes& lanes) const {
      std::vector<int> sums(static_cast<std::size_t>(lanes.count_));
      for (std::size_t i = 0; i < order.size(); ++i) {
        sums[i / static_cast<std::size_t>(lanes.hosts_.count())] +=
            of_ranks.counts[static_cast<std::size_t>(order[i])];
      }
      return sums;
    }
    [[nodiscard]] std::vector<int> of_lane(const Lanes& lanes) const {
      std::vector<int> counts;
      for (int h = 0; h < lanes.hosts_.count(); ++h) {
        const Rank r = lanes.rank_at(h, static_cast<int>(lanes.inside_.rank()));
        counts.push_back(of_ranks.counts[static_cast<std::size_t>(r)]);
      }
      return counts;
    }
  };

  /// The ranks' blocks as the two steps want them: copied, unless they lie that way.
  const std::byte* stage(const Blocks& blocks, const std::byte* whole, std::size_t unit_bytes) {
    if (is_in_order_) return whole;
    std::byte* const staged = room(staged_, blocks.total() * unit_bytes);
    blocks.each([&](std::size_t at, std::size_t of, std::size_t n) {
      std::copy_n(whole + of * unit_bytes, n * unit_bytes, staged + at * unit_bytes);
    });
    return staged;
  }

  static void unstage(const Blocks& blocks, const std::byte* staged, std::byte* whole) {
    blocks.each(
        [&](std::size_t at, std::size_t of, std::size_t n) { std::copy_n(staged + at, n, whole + of); });
  }

  /// @return this rank's part of the sum of its host's vectors
  std::byte* sum_inside(const std::byte* whole, const Parts& parts, Unit unit) {
    std::byte* const mine = room(share_, static_cast<std::size_t>(parts.counts[inside_.rank()]) * unit.bytes);
    inside_.reduce_scatter(whole, mine, parts, unit);
    return mine;
  }

  /// Memory that stays for the next call.
  template <typename Size>
  static std::byte* room(std::vector<std::byte>& memory, Size bytes) {
    if (memory.size() < static_cast<std::size_t>(bytes)) memory.resize(static_cast<std::size_t>(bytes));
    return memory.data();
  }

  comm::Hosts hosts_;
  int count_;  // of lanes
  StockComm all_;
  Rank rank_;
  Group inside_;  // this host's ranks, in the order of their lanes
  Group among_;   // this lane's ranks, in the order of the hosts
  std::vector<Rank> order_;
  bool is_in_order_ = false;  // staged blocks lie as in the caller's buffer: hosts got their ranks in turns
  std::vector<std::byte> share_;
  std::vector<std::byte> staged_;
};

}  // namespace

namespace {

void require_even(const comm::Hosts& hosts) {
  if (hosts.is_even()) return;
  throw std::invalid_argument(
      "mpi-lane: a lane has one rank of each host, and here hosts have different numbers of ranks; what "
      "would work: equally many ranks on each host");
}

}  // namespace

void require_lanes(Operation operation, const comm::Hosts& hosts) {
  const comm::OperationTraits& row = comm::traits(operation);
  if (row.is_per_pair() || row.sizes_are_own) {
    throw std::invalid_argument("mpi-lane: has no " + std::string(row.name) + "; what would work: mpi");
  }
  require_even(hosts);
}

std::unique_ptr<StockPeer> make_lanes(MPI_Comm comm, const comm::Hosts& hosts) {
  require_even(hosts);
  return std::make_unique<Lanes>(comm, hosts);
}

}  // namespace papfft::app
