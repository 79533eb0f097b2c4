// SPDX-License-Identifier: MIT
// One actor per rank runs the rank's program, as comm/exec does with real messages: it posts what its dependencies, windows
// and credits allow and waits for whatever ends first. Sender and receiver meet in a mailbox of the message's own, and the
// message moves when both are there (a rendezvous). A thousand ranks may have millions of ops, so little is kept of each.
#include <algorithm>
#include <cctype>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "comm/model/platform.hpp"
#include "comm/schedule/core/background.hpp"

namespace papfft::comm {

namespace {

namespace sg = simgrid::s4u;

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

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
  std::vector<std::int64_t> bytes_before;  // of the slots: [first, last) has before[last] - before[first]
  Meetings& meetings;
  std::vector<std::vector<int>> message = {};  // its number, per rank and op; the same at both ends
  double begin_s = 0;                          // on SimGrid's clock, which never goes back: time 0
  std::vector<double> arrival_s = {};          // on the same clock
  double background_s = 0;
  double gamma_s_per_byte = 0;
  Conduct conduct;
  std::vector<double> exit_s;

  [[nodiscard]] std::int64_t bytes_of(const Op& op) const {
    return bytes_before[idx(op.blocks.last)] - bytes_before[idx(op.blocks.first)];
  }
};

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

class RankReplay {
 public:
  RankReplay(Replay& all, Rank rank)
      : all_(all),
        rank_(rank),
        program_(all.schedule.programs[idx(rank)]),
        states_(idx(program_.size())),
        dependents_end_(idx(program_.size()) + 1),
        credits_(all.schedule.shape.credits) {
    const bool early = all.conduct.early != Early::nothing;
    const std::vector<bool> needs =
        early ? needs_arrival(all.schedule.shape, rank, program_) : std::vector<bool>{};
    for (int i = 0; i < program_.size(); ++i) {
      const Op& op = program_[i];
      State& state = states_[idx(i)];
      state.early =
          early && !needs[idx(i)] &&
          !(all.conduct.early == Early::paper_figures && is_receive(op.kind) && op.blocks.count() == 0);
      state.unmet = static_cast<int>(program_.after(i).size());
      for (const int before : program_.after(i)) {
        require(before >= 0 && before < i, "an op waits for no earlier op");
        ++dependents_end_[idx(before) + 1];
      }
      if (is_local(op.kind)) continue;
      Lane& lane = lanes_[op.kind == OpKind::send ? 0 : 1];
      if (is_counted(op)) {
        lane.ops.push_back(i);
      } else {
        state.in_window = true;
      }
    }
    lanes_[0].window = all.conduct.window.sends;
    lanes_[1].window = all.conduct.window.receives;
    std::partial_sum(dependents_end_.begin(), dependents_end_.end(), dependents_end_.begin());
    dependents_.resize(idx(dependents_end_.back()));
    std::vector<int> place(dependents_end_.begin(), dependents_end_.end() - 1);
    for (int i = 0; i < program_.size(); ++i) {
      for (const int before : program_.after(i)) dependents_[idx(place[idx(before)]++)] = i;
    }
  }

  /// The rank's life, in its actor.
  void run() {
    const double arrival = all_.arrival_s[idx(rank_)];
    const bool early = all_.conduct.early != Early::nothing;
    sg::this_actor::sleep_until(early ? std::min(all_.background_s, arrival) : arrival);
    background_open_ = early;
    arrived_ = now() >= arrival;
    for (Lane& lane : lanes_) advance(lane);
    touch_waiting();
    settle();
    while (unfinished_ > 0) {
      if (!arrived_ && now() >= arrival) {
        arrived_ = true;
        touch_waiting();
      } else if (!pending_.empty()) {
        wait(arrived_ ? kForEver : arrival - now());
      } else {
        if (arrived_) return;  // stuck: the exit stays unset
        sg::this_actor::sleep_until(arrival);
      }
      settle();
    }
    sg::this_actor::sleep_until(arrival);
    all_.exit_s[idx(rank_)] = now();
  }

 private:
  static constexpr double kForEver = -1;

  struct State {  // of one op
    int unmet = 0;
    bool early = false;
    bool in_window = false;
    bool posted = false;
    bool asked = false;
    bool landed = false;     // a message that will be combined is here
    bool activated = false;  // the combining waits for the processor, runs or has run
  };

  struct Lane {  // the ops of one direction that the window counts
    std::vector<int> ops = {};
    std::size_t next = 0;
    int open = 0;
    int window = 1;
  };

  struct Asking {
    int peer_order = 0;
    int sequence = 0;
    int op = 0;
    friend bool operator>(const Asking& a, const Asking& b) {
      return std::tie(a.peer_order, a.sequence) > std::tie(b.peer_order, b.sequence);
    }
  };

  static double now() { return sg::Engine::get_clock(); }

  /// Under the windows (verify.hpp): messages with data that no credits bound.
  static bool is_counted(const Op& op) {
    return !is_local(op.kind) && op.credit == Credit::none && op.blocks.count() > 0;
  }

  void wait(double timeout_s) {
    const ssize_t which = sg::Activity::wait_any_for(pending_, timeout_s);
    if (which < 0) return;
    const int op = pending_op_[static_cast<std::size_t>(which)];
    pending_.erase(pending_.begin() + which);
    pending_op_.erase(pending_op_.begin() + which);
    if (is_local(program_[op].kind) || states_[idx(op)].landed) {
      combining_ = false;
      finish(op);
    } else if (program_[op].kind == OpKind::recv_combine) {
      states_[idx(op)].landed = true;
      touched_.push(op);
    } else {
      finish(op);
    }
  }

  /// Does all that can be done at this instant; what is nearer to the program's beginning first.
  void settle() {
    while (true) {
      if (!touched_.empty()) {
        const int op = touched_.top();
        touched_.pop();
        touch(op);
      } else if (credits_ > 0 && !asking_.empty()) {
        const int op = asking_.top().op;
        asking_.pop();
        --credits_;
        post(op);
      } else if (!combining_ && !to_combine_.empty()) {
        const int op = to_combine_.top();
        to_combine_.pop();
        combine(op);
      } else {
        return;
      }
    }
  }

  /// What may have waited for nothing but the rank's arrival or the background.
  void touch_waiting() {
    for (int i = 0; i < program_.size(); ++i) {
      const State& state = states_[idx(i)];
      if (state.unmet == 0 || (state.in_window && !state.posted)) touched_.push(i);
    }
  }

  void touch(int i) {
    State& state = states_[idx(i)];
    const Op& op = program_[i];
    const bool may_run = state.unmet == 0 && (arrived_ || (background_open_ && state.early));
    const bool lands_aside = op.kind == OpKind::recv_combine;
    if (!state.posted) {
      const bool may_post = lands_aside && is_counted(op) ? arrived_ || background_open_ : may_run;
      if (!may_post || !(state.in_window || is_local(op.kind))) return;
      if (op.credit == Credit::take) {
        ask(i);
      } else {
        post(i);
      }
    } else if (lands_aside && state.landed && !state.activated && may_run) {
      state.activated = true;
      to_combine_.push(i);
    }
  }

  void ask(int i) {
    if (std::exchange(states_[idx(i)].asked, true)) return;
    const int next = static_cast<int>(peer_orders_.size());
    const int order = peer_orders_.try_emplace(program_[i].peer, next).first->second;
    asking_.push({order, sequence_++, i});
  }

  void post(int i) {
    const Op& op = program_[i];
    states_[idx(i)].posted = true;
    switch (op.kind) {
      case OpKind::send:
        wait_for(meeting(i)->put_async(&nothing_, static_cast<std::uint64_t>(all_.bytes_of(op))), i);
        return;
      case OpKind::recv:
      case OpKind::recv_combine:
        wait_for(meeting(i)->get_async<int>(&received_), i);
        return;
      case OpKind::copy:
        finish(i);
        return;
      case OpKind::combine:
        to_combine_.push(i);
    }
  }

  sg::Mailbox* meeting(int i) { return all_.meetings.of(all_.message[idx(rank_)][idx(i)]); }

  void combine(int i) {
    const double seconds = all_.gamma_s_per_byte * static_cast<double>(all_.bytes_of(program_[i]));
    if (!(seconds > 0)) {
      finish(i);
      return;
    }
    combining_ = true;
    const sg::ExecPtr exec = sg::this_actor::exec_init(seconds * sg::this_actor::get_host()->get_speed());
    exec->start();
    wait_for(exec, i);
  }

  void wait_for(sg::ActivityPtr activity, int i) {
    pending_.push_back(std::move(activity));
    pending_op_.push_back(i);
  }

  void finish(int i) {
    const Op& op = program_[i];
    --unfinished_;
    for (int k = dependents_end_[idx(i)]; k < dependents_end_[idx(i) + 1]; ++k) {
      const int dependent = dependents_[idx(k)];
      if (--states_[idx(dependent)].unmet == 0) touched_.push(dependent);
    }
    if (op.credit == Credit::give) ++credits_;
    if (is_counted(op)) {
      Lane& lane = lanes_[op.kind == OpKind::send ? 0 : 1];
      --lane.open;
      advance(lane);
    }
  }

  void advance(Lane& lane) {
    for (; lane.open < lane.window && lane.next < lane.ops.size(); ++lane.next, ++lane.open) {
      states_[idx(lane.ops[lane.next])].in_window = true;
      touched_.push(lane.ops[lane.next]);
    }
  }

  Replay& all_;
  const Rank rank_;
  const Program& program_;
  std::vector<State> states_;
  std::vector<int> dependents_;  // of op i: [dependents_end_[i], dependents_end_[i+1])
  std::vector<int> dependents_end_;
  Lane lanes_[2];  // sends, receives
  int credits_;
  int unfinished_ = static_cast<int>(states_.size());
  bool background_open_ = false;
  bool arrived_ = false;
  bool combining_ = false;
  MinHeap<int> touched_;
  MinHeap<int> to_combine_;
  MinHeap<Asking> asking_;
  std::map<Rank, int> peer_orders_;
  int sequence_ = 0;
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
    } catch (const std::invalid_argument&) {
      throw;
    } catch (const std::exception& error) {
      throw std::invalid_argument(error.what());
    }
  }

  [[nodiscard]] int host_count() const override { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] LinkModel link() const override { return link_; }

  [[nodiscard]] PlatformRun replay(const Schedule& schedule, std::span<const std::int64_t> slot_bytes,
                                   std::span<const std::int64_t> arrival_ns, double gamma_ns_per_byte,
                                   const Conduct& conduct) override {
    const auto ranks = idx(schedule.shape.ranks);
    require(ranks <= hosts_.size(), "more ranks than hosts");
    require(schedule.programs.size() == ranks && arrival_ns.size() == ranks,
            "not one program and arrival per rank");
    require(slot_bytes.size() == idx(schedule.shape.slots()), "not one size per slot");
    require(conduct.window.sends >= 1 && conduct.window.receives >= 1, "the window must admit one message");
    Replay all{.schedule = schedule,
               .bytes_before = {0},
               .meetings = meetings_,
               .begin_s = sg::Engine::get_clock(),
               .gamma_s_per_byte = gamma_ns_per_byte * 1e-9,
               .conduct = conduct,
               .exit_s = std::vector<double>(ranks, kUnset)};
    for (const std::int64_t bytes : slot_bytes) all.bytes_before.push_back(all.bytes_before.back() + bytes);
    const auto on_clock = [&](std::int64_t ns) { return all.begin_s + static_cast<double>(ns) * 1e-9; };
    for (const std::int64_t ns : arrival_ns) all.arrival_s.push_back(on_clock(ns));
    const std::int64_t first_ns = *std::ranges::min_element(arrival_ns);
    all.background_s = on_clock(conduct.early_from.value_or(first_ns));
    number_messages(all);
    std::deque<RankReplay> replays;
    for (Rank r = 0; r < schedule.shape.ranks; ++r) replays.emplace_back(all, r);
    for (Rank r = 0; r < schedule.shape.ranks; ++r) {
      sg::Actor::create("rank", hosts_[idx(r)], [&replay = replays[idx(r)]] { replay.run(); });
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

  /// The n-th send from a to b meets the n-th receive of b from a.
  void number_messages(Replay& all) {
    struct Pair {
      std::vector<int> sends = {};  // the numbers of a's messages to b, in a's order
      std::size_t received = 0;     // how many of them b has been given
    };
    const std::vector<Program>& programs = all.schedule.programs;
    std::map<std::pair<Rank, Rank>, Pair> pairs;
    int count = 0;
    const auto for_messages = [&](auto visit) {
      for (Rank r = 0; r < all.schedule.shape.ranks; ++r) {
        for (int i = 0; i < programs[idx(r)].size(); ++i) {
          if (!is_local(programs[idx(r)][i].kind)) visit(r, i, programs[idx(r)][i]);
        }
      }
    };
    for (const Program& program : programs) all.message.emplace_back(idx(program.size()), -1);
    for_messages([&](Rank r, int i, const Op& op) {
      require(op.peer >= 0 && op.peer < all.schedule.shape.ranks && op.peer != r, "an op has no such peer");
      if (op.kind != OpKind::send) return;
      pairs[{r, op.peer}].sends.push_back(count);
      all.message[idx(r)][idx(i)] = count++;
    });
    std::size_t received = 0;
    for_messages([&](Rank r, int i, const Op& op) {
      if (op.kind == OpKind::send) return;
      Pair& pair = pairs[{op.peer, r}];
      require(pair.received < pair.sends.size(), "sends and receives do not meet");
      all.message[idx(r)][idx(i)] = pair.sends[pair.received++];
      ++received;
    });
    require(received == idx(count), "sends and receives do not meet");
    all.meetings.expect(received);
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
};

}  // namespace

std::unique_ptr<Platform> open_simgrid_platform(const std::string& file, NetworkModel model) {
  if (sg::Engine::has_instance()) throw std::logic_error("open_simgrid_platform: a process has one platform");
  return std::make_unique<SimgridPlatform>(file, model);
}

}  // namespace papfft::comm
