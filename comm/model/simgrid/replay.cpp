// SPDX-License-Identifier: MIT
// One actor per rank runs the rank's program, as the executor does with real messages: it posts what may start (progress.hpp) and
// waits for whatever ends first. Sender and receiver meet in a mailbox of the message's own, and the message moves when both are
// there (a rendezvous). A thousand ranks may have millions of ops, so little is kept of each.
#include <algorithm>
#include <cctype>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "comm/model/platform.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/core/messages.hpp"

namespace papfft::comm {

namespace {

namespace sg = simgrid::s4u;

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(std::string("replay: ") + what);
}

/// "node-9" before "node-10".
bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto number = [&](std::string_view& text) {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    std::string_view value = text.substr(0, digits);
    value.remove_prefix(std::min(value.find_first_not_of('0'), value.size()));
    text.remove_prefix(digits);
    return value;
  };
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = number(a);
      const std::string_view y = number(b);
      if (x != y) return std::tuple(x.size(), x) < std::tuple(y.size(), y);
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && b.empty() ? whole_a < whole_b : a.empty();
}

/// Where the two ends of each message meet. Their requests reach SimGrid's kernel in the order in which they are made, so a
/// mailbox may serve the next message as soon as the second end has asked for it.
class Meetings {
 public:
  void expect(std::size_t messages) { at_.assign(messages, nullptr); }

  sg::Mailbox* of(int message) {
    // First, since other actors run while SimGrid makes one.
    if (free_.empty()) free_.push_back(sg::Mailbox::by_name(std::to_string(made_++)));
    sg::Mailbox*& at = at_[idx(message)];
    if (at != nullptr) {
      free_.push_back(at);
      return std::exchange(at, nullptr);
    }
    at = free_.back();
    free_.pop_back();
    return at;
  }

 private:
  std::vector<sg::Mailbox*> at_;  // per message: where one end waits for the other
  std::vector<sg::Mailbox*> free_;
  std::size_t made_ = 0;
};

/// What all ranks of one replay have in common.
struct Replay {
  const Schedule& schedule;
  SlotSizes sizes;
  Meetings& meetings;
  std::vector<int> partners = {};       // of each op, numbered through all programs
  std::vector<std::size_t> first = {};  // rank r's ops are numbered from first[r]
  double begin_s = 0;                   // on SimGrid's clock, which never goes back: time 0
  std::vector<double> arrival_s = {};   // on the same clock
  double background_s = 0;
  double gamma_s_per_byte = 0;
  Conduct conduct;
  std::vector<double> exit_s;
};

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

class RankReplay {
 public:
  RankReplay(Replay& all, Rank rank)
      : all_(all),
        rank_(rank),
        program_(all.schedule.programs[idx(rank)]),
        progress_(all.schedule.shape, program_, all.sizes, {.window = all.conduct.window},
                  held_back(all.schedule.shape, rank, program_, all.conduct.early)) {
    progress_.observe(all.conduct.observer, rank);
  }

  /// The rank's life, in its actor.
  void run() {
    const double arrival = all_.arrival_s[idx(rank_)];
    if (all_.conduct.early != Early::nothing) {
      sg::this_actor::sleep_until(std::min(all_.background_s, arrival));
      progress_.begin();
    } else {
      sg::this_actor::sleep_until(arrival);
    }
    while (true) {
      if (!progress_.has_arrived() && now() >= arrival) progress_.arrive();
      settle();
      if (progress_.done()) break;
      if (!pending_.empty()) {
        wait(progress_.has_arrived() ? kForEver : arrival - now());
      } else if (!progress_.has_arrived()) {
        sg::this_actor::sleep_until(arrival);
      } else {
        return;  // stuck: the exit stays unset
      }
    }
    sg::this_actor::sleep_until(arrival);
    all_.exit_s[idx(rank_)] = now();
  }

 private:
  static constexpr double kForEver = -1;

  static double now() { return sg::Engine::get_clock(); }

  void wait(double timeout_s) {
    const ssize_t which = sg::Activity::wait_any_for(pending_, timeout_s);
    if (which < 0) return;
    const int op = pending_op_[static_cast<std::size_t>(which)];
    pending_.erase(pending_.begin() + which);
    pending_op_.erase(pending_op_.begin() + which);
    if (op == combining_) {
      combining_ = kNone;
      progress_.ended(op);
    } else if (progress_.lands_aside(op)) {
      progress_.landed(op);
    } else if (combines(program_[op].kind)) {
      to_combine_.push(op);
    } else {
      progress_.ended(op);
    }
  }

  /// Does all that can be done at this instant; what is nearer to the program's beginning is combined first.
  void settle() {
    while (true) {
      if (const auto op = progress_.next()) {
        begin(*op);
      } else if (combining_ == kNone && !to_combine_.empty()) {
        const int next = to_combine_.top();
        to_combine_.pop();
        combine(next);
      } else {
        return;
      }
    }
  }

  void begin(int i) {
    const Op& op = program_[i];
    if (progress_.phase(i) == Progress::Phase::landed || op.kind == OpKind::combine) {
      to_combine_.push(i);
    } else if (progress_.is_local(i)) {
      progress_.ended(i);
    } else if (op.kind == OpKind::send) {
      wait_for(meeting(i)->put_async(&nothing_, static_cast<std::uint64_t>(all_.sizes.of(op.blocks))), i);
    } else {
      wait_for(meeting(i)->get_async<int>(&received_), i);
    }
  }

  /// Both ends of a message name it by the number of its send.
  sg::Mailbox* meeting(int i) {
    const std::size_t number = all_.first[idx(rank_)] + idx(i);
    return all_.meetings.of(program_[i].kind == OpKind::send ? static_cast<int>(number)
                                                             : all_.partners[number]);
  }

  void combine(int i) {
    const double seconds = all_.gamma_s_per_byte * static_cast<double>(all_.sizes.of(program_[i].blocks));
    if (!(seconds > 0)) {
      progress_.ended(i);
      return;
    }
    combining_ = i;
    const sg::ExecPtr exec = sg::this_actor::exec_init(seconds * sg::this_actor::get_host()->get_speed());
    exec->start();
    wait_for(exec, i);
  }

  void wait_for(sg::ActivityPtr activity, int i) {
    pending_.push_back(std::move(activity));
    pending_op_.push_back(i);
  }

  static constexpr int kNone = -1;

  Replay& all_;
  const Rank rank_;
  const Program& program_;
  Progress progress_;
  int combining_ = kNone;  // a rank combines one op at a time
  MinHeap<int> to_combine_;
  std::vector<sg::ActivityPtr> pending_;
  std::vector<int> pending_op_;
  int nothing_ = 0;  // messages carry no data, but SimGrid wants an address
  int* received_ = nullptr;
};

class SimgridPlatform final : public Platform {
 public:
  SimgridPlatform(const std::string& file, NetworkModel model) {
    std::vector<std::string> words = {"papfft", "--log=root.thres:critical",
                                      "--log=ker_engine.thres:critical", "--cfg=contexts/stack-size:128",
                                      "--cfg=debug/verbose-exit:0"};
    if (model == NetworkModel::plain) {
      words.insert(words.end(), {"--cfg=network/model:CM02", "--cfg=network/crosstraffic:0"});
    } else {
      words.emplace_back("--cfg=network/model:LV08");
    }
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    engine_ = std::make_unique<sg::Engine>(&argc, argv.data());
    try {
      engine_->load_platform(file);
      engine_->seal_platform();
      hosts_ = engine_->get_all_hosts();
      std::ranges::sort(hosts_, natural_less, [](const sg::Host* host) { return host->get_name(); });
      if (hosts_.size() < 2) throw std::invalid_argument("a platform has two hosts or more");
      link_ = route_cost(hosts_[0], hosts_[1]);
      inside_link_ = route_cost(hosts_[0], hosts_[0]);
    } catch (const std::invalid_argument&) {
      throw;
    } catch (const std::exception& error) {
      throw std::invalid_argument(error.what());
    }
  }

  [[nodiscard]] int host_count() const override { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] LinkModel link() const override { return link_; }
  [[nodiscard]] LinkModel inside_link() const override { return inside_link_; }

  [[nodiscard]] PlatformRun replay(const Schedule& schedule, std::span<const std::int64_t> slot_bytes,
                                   std::span<const std::int64_t> arrival_ns, double gamma_ns_per_byte,
                                   const Conduct& conduct, std::span<const int> host_of_rank) override {
    const auto ranks = idx(schedule.shape.ranks);
    const Hosts placed(schedule.shape.ranks, host_of_rank);
    require(idx(placed.count()) <= hosts_.size(), "the ranks need more hosts than there are");
    require(schedule.programs.size() == ranks && arrival_ns.size() == ranks,
            "not one program and arrival per rank");
    require(slot_bytes.size() == idx(schedule.shape.slots()), "not one size per slot");
    require(conduct.window.sends >= 1 && conduct.window.receives >= 1, "the window must admit one message");
    Replay all{.schedule = schedule,
               .sizes = SlotSizes(slot_bytes),
               .meetings = meetings_,
               .begin_s = sg::Engine::get_clock(),
               .gamma_s_per_byte = gamma_ns_per_byte * 1e-9,
               .conduct = conduct,
               .exit_s = std::vector<double>(ranks, kUnset)};
    const auto on_clock = [&](std::int64_t ns) { return all.begin_s + static_cast<double>(ns) * 1e-9; };
    for (const std::int64_t ns : arrival_ns) all.arrival_s.push_back(on_clock(ns));
    const std::int64_t first_ns = *std::ranges::min_element(arrival_ns);
    all.background_s = on_clock(conduct.early_from.value_or(first_ns));
    number_messages(all);
    std::deque<RankReplay> replays;
    for (Rank r = 0; r < schedule.shape.ranks; ++r) replays.emplace_back(all, r);
    for (Rank r = 0; r < schedule.shape.ranks; ++r) {
      sg::Actor::create("rank", hosts_[idx(placed.of(r))], [&replay = replays[idx(r)]] { replay.run(); });
    }
    engine_->run();
    return summary(all, arrival_ns);
  }

 private:
  static constexpr double kUnset = -1;

  static LinkModel route_cost(const sg::Host* from, const sg::Host* to) {
    std::vector<sg::Link*> links;
    double latency_s = 0;
    from->route_to(to, links, &latency_s);
    double bytes_per_s = std::numeric_limits<double>::infinity();
    for (const sg::Link* link : links) bytes_per_s = std::min(bytes_per_s, link->get_bandwidth());
    return {.alpha_ns = latency_s * 1e9,
            .beta_ns_per_byte = 1e9 / bytes_per_s,
            .gamma_ns_per_byte = 0,
            .latency_ns = latency_s * 1e9};
  }

  static void number_messages(Replay& all) {
    const Schedule& schedule = all.schedule;
    MessageMatcher matcher;
    std::size_t count = 0;
    for (Rank r = 0; r < schedule.shape.ranks; ++r) {
      all.first.push_back(count);
      count += idx(schedule.programs[idx(r)].size());
      for (const Op& op : schedule.programs[idx(r)].ops()) {
        require(is_local(op.kind) || (op.peer >= 0 && op.peer < schedule.shape.ranks && op.peer != r),
                "an op has no such peer");
        matcher.add(r, op);
      }
    }
    all.partners = matcher.partners();
    for (Rank r = 0; r < schedule.shape.ranks; ++r) {
      const Program& program = schedule.programs[idx(r)];
      for (int i = 0; i < program.size(); ++i) {
        require(is_local(program[i].kind) || all.partners[all.first[idx(r)] + idx(i)] >= 0,
                "sends and receives do not meet");
      }
    }
    all.meetings.expect(count);
  }

  static PlatformRun summary(const Replay& all, std::span<const std::int64_t> arrival_ns) {
    PlatformRun run;
    double elapsed_sum = 0;
    for (std::size_t r = 0; r < all.exit_s.size(); ++r) {
      if (all.exit_s[r] == kUnset) {
        throw std::runtime_error("replay: deadlock: rank " + std::to_string(r) + " never ends");
      }
      run.exit_ns.push_back((all.exit_s[r] - all.begin_s) * 1e9);
      elapsed_sum += run.exit_ns.back() - static_cast<double>(arrival_ns[r]);
    }
    run.elapsed_ns = elapsed_sum / static_cast<double>(all.exit_s.size());
    run.run_ns =
        *std::ranges::max_element(run.exit_ns) - static_cast<double>(*std::ranges::min_element(arrival_ns));
    return run;
  }

  std::unique_ptr<sg::Engine> engine_;
  std::vector<sg::Host*> hosts_;
  Meetings meetings_;
  LinkModel link_;
  LinkModel inside_link_;
};

}  // namespace

std::unique_ptr<Platform> open_simgrid_platform(const std::string& file, NetworkModel model) {
  if (sg::Engine::has_instance()) throw std::logic_error("open_simgrid_platform: a process has one platform");
  return std::make_unique<SimgridPlatform>(file, model);
}

}  // namespace papfft::comm
