// SPDX-License-Identifier: MIT
#include "app/bench/least_run_time.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "comm/schedule/core/contract.hpp"

namespace papfft::app {

namespace {

using comm::Held;
using comm::Rank;
using Times = std::span<const std::int64_t>;

/// Bytes that exist from some time on, and must pass one place.
class Load {
 public:
  void add(std::size_t bytes, std::int64_t from_ns) { loads_.emplace_back(from_ns, bytes); }

  /// When all may have passed. @param free_bytes  of what is left at any time, so much takes no time
  [[nodiscard]] double end_ns(double free_bytes, double ns_per_byte) const {
    std::vector<std::pair<std::int64_t, std::size_t>> latest_first = loads_;
    std::ranges::sort(latest_first, std::greater<>());
    double end_ns = -std::numeric_limits<double>::infinity();
    double left = 0;
    for (const auto& [from_ns, bytes] : latest_first) {
      left += static_cast<double>(bytes);
      end_ns =
          std::max(end_ns, static_cast<double>(from_ns) + std::max(0.0, left - free_bytes) * ns_per_byte);
    }
    return end_ns;
  }

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> loads_;
};

struct Host {
  Load in;
  Load out;
  Load written;  ///< to the memory of its ranks, in all
};

/// What one block's contract asks of the hosts.
class Bound {
 public:
  Bound(const CallSize& call, Times arrival_ns, const Links& links)
      : call_(call), arrival_ns_(arrival_ns), links_(links) {
    shape_ = {.operation = call.operation,
              .ranks = static_cast<int>(arrival_ns.size()),
              .root = is_rooted(call.operation) ? call.root : 0};
    for (const int host : links.host) hosts_.try_emplace(host);
    if (shape_.per_pair()) {
      add_pairs();
    } else {
      for (int block = 0; block < shape_.blocks(); ++block) add(block);
    }
  }

  [[nodiscard]] std::int64_t run_time_ns() const {
    const auto [first, last] = std::ranges::minmax(arrival_ns_);
    const double beta = links_.beta_ns_per_byte;
    const double share = carried_ / static_cast<double>(hosts_.size());
    double end_ns = static_cast<double>(first) + std::max(0.0, share - links_.burst_bytes) * beta;
    for (const auto& [number, host] : hosts_) {
      end_ns = std::max({end_ns, host.in.end_ns(links_.burst_bytes, beta),
                         host.out.end_ns(links_.burst_bytes, beta),
                         host.written.end_ns(0, links_.copy_ns_per_byte / links_.cores)});
    }
    return std::max(last, static_cast<std::int64_t>(std::llround(end_ns))) - first;
  }

 private:
  [[nodiscard]] bool contributes(Rank r, int block) const {
    return held_before(shape_, r, block) != Held::nothing;
  }
  [[nodiscard]] bool needs(Rank r, int block) const { return held_after(shape_, r, block) != Held::nothing; }

  /// When the last of a block's contributors arrives of those that `counts`; nothing if there is none.
  template <typename Counts>
  [[nodiscard]] std::optional<std::int64_t> last_arrival_ns(int block, Counts counts) const {
    std::optional<std::int64_t> last;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      if (contributes(r, block) && counts(r)) last = std::max(last.value_or(arrival(r)), arrival(r));
    }
    return last;
  }

  void add(int block) {
    const std::size_t bytes = call_.block_bytes[static_cast<std::size_t>(block)];
    const bool combines = is_reduction(call_.operation);
    std::set<int> givers;
    std::map<int, std::vector<std::int64_t>>
        written_ns;  // by host: for each rank that needs the block, when it can be written
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const bool gives = contributes(r, block);
      if (gives) givers.insert(host_of(r));
      if (!needs(r, block)) continue;
      std::vector<std::int64_t>& times = written_ns[host_of(r)];
      const auto from_ns = last_arrival_ns(block, [&](Rank other) { return other != r; });
      if (from_ns && (combines || !gives)) times.push_back(*from_ns);
    }
    for (auto& [number, host] : hosts_) {
      const auto is_here = [&, here = number](Rank r) { return host_of(r) == here; };
      const auto inside_ns = last_arrival_ns(block, is_here);
      const auto outside_ns = last_arrival_ns(block, std::not_fn(is_here));
      const bool takes = written_ns.contains(number);
      // Who has the block already needs none of it from outside, unless it has only its part of a sum.
      const bool comes_in = takes && outside_ns && (combines || !inside_ns);
      if (comes_in) host.in.add(bytes, *outside_ns);
      if (inside_ns && written_ns.size() > (takes ? 1U : 0U)) host.out.add(bytes, *inside_ns);
      if (!takes) continue;
      std::vector<std::int64_t>& times = written_ns[number];
      std::ranges::sort(times);
      if (comes_in && !times.empty()) times.pop_back();  // the cable itself may write it there
      for (const std::int64_t from_ns : times) host.written.add(bytes, from_ns);
    }
    carried_ += static_cast<double>(bytes) * static_cast<double>(crossings(givers, written_ns));
  }

  /// The same, of blocks that each have one giver and one taker.
  void add_pairs() {
    for (Rank source = 0; source < shape_.ranks; ++source) {
      for (Rank target = 0; target < shape_.ranks; ++target) {
        if (source == target) continue;
        const std::size_t bytes =
            call_.block_bytes[static_cast<std::size_t>((source + target) % shape_.ranks)];
        const int from = host_of(source);
        const int to = host_of(target);
        if (from == to) {
          hosts_[to].written.add(bytes, arrival(source));
          continue;
        }
        hosts_[from].out.add(bytes, arrival(source));
        hosts_[to].in.add(bytes, arrival(source));
        carried_ += static_cast<double>(bytes);
      }
    }
  }

  /// How many times a block crosses from host to host at least: parts are combined two by two, and copies made one by one.
  template <typename Takers>
  [[nodiscard]] std::size_t crossings(const std::set<int>& givers, const Takers& takers) const {
    if (is_reduction(call_.operation)) return givers.size() + takers.size() - 2;
    return static_cast<std::size_t>(
        std::ranges::count_if(takers, [&](const auto& taker) { return !givers.contains(taker.first); }));
  }

  [[nodiscard]] std::int64_t arrival(Rank r) const { return arrival_ns_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] int host_of(Rank r) const { return links_.host[static_cast<std::size_t>(r)]; }

  const CallSize& call_;
  Times arrival_ns_;
  const Links& links_;
  comm::Shape shape_;
  std::map<int, Host> hosts_;
  double carried_ = 0;  ///< by all cables together
};

}  // namespace

std::int64_t least_run_time_ns(const CallSize& call, Times arrival_ns, const Links& links) {
  if (arrival_ns.empty()) throw std::invalid_argument("arrival times: at least one rank is needed");
  if (links.host.size() != arrival_ns.size())
    throw std::invalid_argument("arrival times and hosts: not of the same ranks");
  if (call.root < 0 || static_cast<std::size_t>(call.root) >= arrival_ns.size()) {
    throw std::invalid_argument("arrival times: no root " + std::to_string(call.root) + " among " +
                                std::to_string(arrival_ns.size()) + " ranks");
  }
  if (call.block_bytes.size() != (moves_per_rank(call.operation) ? arrival_ns.size() : 1)) {
    throw std::invalid_argument("arrival times and block sizes: not of the same ranks");
  }
  return Bound(call, arrival_ns, links).run_time_ns();
}

}  // namespace papfft::app
