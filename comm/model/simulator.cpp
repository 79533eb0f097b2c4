// SPDX-License-Identifier: MIT
#include "comm/model/simulator.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/print.hpp"

namespace papfft::comm {

namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

Ticks add(Ticks a, Ticks b) {
  Ticks sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw std::overflow_error("simulate: time exceeds 64 bits");
  return sum;
}

Ticks times(Ticks per_byte, std::int64_t bytes) {
  Ticks product = 0;
  if (__builtin_mul_overflow(per_byte, bytes, &product)) {
    throw std::overflow_error("simulate: time exceeds 64 bits");
  }
  return product;
}

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(std::string("simulate: ") + what);
}

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

// Ops are numbered through all programs ("id"). Whatever takes time is an activity, named by an op: a message by
// its send, combining by the op that combines. An activity needs two ports (which may be one and the same).
class Engine {
 public:
  Engine(const Shape& shape, const ProgramSource& programs, std::span<const std::int64_t> slot_bytes,
         std::span<const Ticks> arrivals, const Machine& machine, const Conduct& conduct)
      : shape_(shape), programs_(programs), arrivals_(arrivals), machine_(machine), conduct_(conduct) {
    check_arguments(slot_bytes);
    read_programs(slot_bytes);
    match_messages();
    prepare_lanes();
  }

  Simulation run() {
    for (Rank r = 0; r < shape_.ranks; ++r) push(arrivals_[idx(r)], EventKind::arrival, r);
    const Ticks first_arrival = *std::ranges::min_element(arrivals_);
    if (conduct_.early != Early::nothing) {
      push(conduct_.early_from.value_or(first_arrival), EventKind::background, 0);
    }
    while (!events_.empty()) {
      now_ = events_.top().time;
      while (!events_.empty() && events_.top().time == now_) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      arbitrate();
    }
    if (unfinished_ > 0) report_deadlock();
    summarise(first_arrival);
    return std::move(result_);
  }

 private:
  static constexpr int kNone = -1;
  static constexpr int kBackground = std::numeric_limits<int>::min();  // as a cause

  enum class EventKind : std::uint8_t { arrival, background, message, combined, copied };
  struct Event {
    Ticks time = 0;
    std::uint64_t sequence = 0;
    EventKind kind = EventKind::arrival;
    int id = 0;  // rank of an arrival, else op
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.sequence) > std::tie(b.time, b.sequence);
    }
  };

  struct State {  // of one op
    Rank rank = 0;
    int index = 0;
    Rank peer = -1;
    OpKind kind = OpKind::send;
    Credit credit = Credit::none;
    bool is_empty = false;  // names no slots
    int partner = kNone;    // id of the other end
    int unmet = 0;          // dependencies that have not ended
    bool early = false;     // may run before the rank arrives
    bool in_window = false;
    bool posted = false;
    bool asked = false;      // for a credit
    bool landed = false;     // overlapped combining: the message has arrived
    bool activated = false;  // the combining waits for the processor, runs or has run
    bool ended = false;
    std::int64_t bytes = 0;
    int cause = kNone;  // of the activity: id of the op whose end let it start, or -1 - rank, or kBackground
  };

  /// Ops of one direction of one rank: those before `next` are or were in the window.
  struct Lane {
    int begin = 0;  // in lane_ops_
    int next = 0;
    int end = 0;
    int open = 0;
    int window = 1;
  };

  struct Request {  // an activity that could start
    int late_index = 0;
    int early_index = 0;
    int id = 0;
    int port = kNone;  // it waited there
    friend bool operator>(const Request& a, const Request& b) {
      return std::tie(a.late_index, a.early_index, a.id) > std::tie(b.late_index, b.early_index, b.id);
    }
  };

  struct Asking {  // a take that is ready
    int peer_order = 0;
    std::uint64_t sequence = 0;
    Ticks since = 0;
    int id = 0;
    friend bool operator>(const Asking& a, const Asking& b) {
      return std::tie(a.peer_order, a.sequence) > std::tie(b.peer_order, b.sequence);
    }
  };

  struct Credits {  // of one rank
    int left = 0;
    int given_by = kNone;  // the last op that gave one back
    MinHeap<Asking> asking;
  };

  struct Port {
    bool busy = false;
    int released_by = kNone;
    int claim = kNone;  // combining that takes the port as soon as it is free
    MinHeap<Request> waiting;
  };

  struct Ports {
    int a = 0;
    int b = 0;
  };

  // ---- preparation -----------------------------------------------------------------------------------------

  void check_arguments(std::span<const std::int64_t> slot_bytes) const {
    require(shape_.ranks >= 1, "no ranks");
    require(arrivals_.size() == idx(shape_.ranks), "not one arrival per rank");
    require(slot_bytes.size() == idx(shape_.slots()), "not one size per slot");
    require(std::ranges::all_of(slot_bytes, [](std::int64_t b) { return b >= 0; }), "negative slot size");
    require(machine_.alpha >= 0 && machine_.beta >= 0 && machine_.gamma >= 0, "negative cost");
    require(conduct_.window.sends >= 1 && conduct_.window.receives >= 1, "the window must admit one message");
  }

  /// All that is needed of the ops, so that no program is kept.
  void read_programs(std::span<const std::int64_t> slot_bytes) {
    const auto ranks = idx(shape_.ranks);
    arrived_.resize(ranks);
    result_.exit.assign(arrivals_.begin(), arrivals_.end());
    ports_.resize(ranks * 3);
    credits_.resize(ranks);
    for (Credits& credits : credits_) credits.left = shape_.credits;
    std::vector<std::int64_t> bytes_before(slot_bytes.size() + 1);
    for (std::size_t s = 0; s < slot_bytes.size(); ++s) {
      bytes_before[s + 1] = add(bytes_before[s], slot_bytes[s]);
    }
    result_.first.assign(ranks + 1, 0);
    std::vector<int> before;                 // what each op waits for, by its id
    std::vector<std::size_t> before_end{0};  // of op id: [before_end[id], before_end[id+1])
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = programs_(r);
      const std::vector<bool> needs =
          conduct_.early == Early::nothing ? std::vector<bool>{} : needs_arrival(shape_, r, program);
      for (int i = 0; i < program.size(); ++i) {
        states_.push_back(state_of(program[i], r, i, bytes_before));
        states_.back().unmet = static_cast<int>(program.after(i).size());
        states_.back().early = !needs.empty() && !needs[idx(i)] &&
                               !(conduct_.early == Early::paper_figures && is_receive(program[i].kind) &&
                                 program[i].blocks.count() == 0);
        for (const int earlier : program.after(i)) {
          require(earlier >= 0 && earlier < i, "an op waits for no earlier op");
          before.push_back(static_cast<int>(id_of(r, earlier)));
        }
        before_end.push_back(before.size());
      }
      result_.first[idx(r) + 1] = states_.size();
      require(states_.size() < idx(std::numeric_limits<int>::max()), "too many ops");
    }
    result_.ops.resize(states_.size());
    unfinished_ = states_.size();
    turn_around(before, before_end);
  }

  [[nodiscard]] State state_of(const Op& op, Rank rank, int index,
                               const std::vector<std::int64_t>& bytes_before) const {
    require(0 <= op.blocks.first && op.blocks.first <= op.blocks.last && op.blocks.last <= shape_.slots(),
            "an op names slots that do not exist");
    require(is_local(op.kind) || (op.peer >= 0 && op.peer < shape_.ranks && op.peer != rank),
            "an op has no such peer");
    State state;
    state.rank = rank;
    state.index = index;
    state.peer = op.peer;
    state.kind = op.kind;
    state.credit = op.credit;
    state.is_empty = op.blocks.count() == 0;
    state.bytes = bytes_before[idx(op.blocks.last)] - bytes_before[idx(op.blocks.first)];
    return state;
  }

  /// Who waits for each op.
  void turn_around(const std::vector<int>& before, const std::vector<std::size_t>& before_end) {
    dependents_end_.assign(states_.size() + 1, 0);
    for (const int id : before) ++dependents_end_[idx(id) + 1];
    std::partial_sum(dependents_end_.begin(), dependents_end_.end(), dependents_end_.begin());
    dependents_.resize(dependents_end_.back());
    std::vector<std::size_t> place(dependents_end_.begin(), dependents_end_.end() - 1);
    for (std::size_t id = 0; id < states_.size(); ++id) {
      for (std::size_t k = before_end[id]; k < before_end[id + 1]; ++k) {
        dependents_[place[idx(before[k])]++] = static_cast<int>(id);
      }
    }
  }

  void match_messages() {
    struct End {
      Rank source = 0;
      Rank target = 0;
      int id = 0;
    };
    std::vector<End> sends;
    std::vector<End> receives;
    for (std::size_t id = 0; id < states_.size(); ++id) {
      const State& op = states_[id];
      if (op.kind == OpKind::send) sends.push_back({op.rank, op.peer, static_cast<int>(id)});
      if (is_receive(op.kind)) receives.push_back({op.peer, op.rank, static_cast<int>(id)});
    }
    require(sends.size() == receives.size(), "sends and receives do not meet");
    const auto by_message = [](const End& a, const End& b) {
      return std::tie(a.source, a.target, a.id) < std::tie(b.source, b.target, b.id);
    };
    std::ranges::sort(sends, by_message);
    std::ranges::sort(receives, by_message);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      State& send = states_[idx(sends[i].id)];
      State& receive = states_[idx(receives[i].id)];
      require(sends[i].source == receives[i].source && sends[i].target == receives[i].target &&
                  send.bytes == receive.bytes,
              "sends and receives do not meet");
      send.partner = receives[i].id;
      receive.partner = sends[i].id;
    }
  }

  void prepare_lanes() {
    lanes_.resize(idx(shape_.ranks) * 2);
    lane_ops_.reserve(states_.size());
    for (Rank r = 0; r < shape_.ranks; ++r) {
      for (const bool sends : {true, false}) {
        Lane& lane = lane_of(r, sends);
        lane.begin = lane.next = static_cast<int>(lane_ops_.size());
        for (std::size_t id = result_.first[idx(r)]; id < result_.first[idx(r) + 1]; ++id) {
          State& op = states_[id];
          if (is_local(op.kind) || (op.kind == OpKind::send) != sends) continue;
          if (is_counted(op)) {
            lane_ops_.push_back(static_cast<int>(id));
          } else {
            op.in_window = true;
          }
        }
        lane.end = static_cast<int>(lane_ops_.size());
        lane.window = sends ? conduct_.window.sends : conduct_.window.receives;
        advance(lane);  // nothing may run yet, so nothing is posted
      }
    }
  }

  // ---- access ----------------------------------------------------------------------------------------------

  [[nodiscard]] std::size_t id_of(Rank r, int i) const { return result_.first[idx(r)] + idx(i); }
  [[nodiscard]] const State& op(int id) const { return states_[idx(id)]; }
  /// Under the windows (verify.hpp): messages with data that no credits bound.
  [[nodiscard]] static bool is_counted(const State& op) {
    return !is_local(op.kind) && op.credit == Credit::none && !op.is_empty;
  }
  Lane& lane_of(Rank r, bool sends) { return lanes_[idx(r) * 2 + (sends ? 0 : 1)]; }

  [[nodiscard]] static int send_port(Rank r) { return 3 * r; }
  [[nodiscard]] int receive_port(Rank r) const { return 3 * r + (machine_.duplex ? 1 : 0); }
  [[nodiscard]] static int processor(Rank r) { return 3 * r + 2; }

  [[nodiscard]] Ports ports_of(int id) const {
    const State& state = states_[idx(id)];
    if (op(id).kind == OpKind::send) {
      return {send_port(state.rank), receive_port(states_[idx(state.partner)].rank)};
    }
    if (machine_.combining == Combining::overlapped) return {processor(state.rank), processor(state.rank)};
    return {send_port(state.rank), receive_port(state.rank)};
  }

  [[nodiscard]] Ticks duration(int id) const {
    const State& state = states_[idx(id)];
    const Ticks combining = times(machine_.gamma, state.bytes);
    if (op(id).kind != OpKind::send) return combining;
    if (state.is_empty && machine_.empty_is_free) return 0;
    const Ticks moving = add(machine_.alpha, times(machine_.beta, state.bytes));
    const bool together = machine_.combining == Combining::in_message && combines(op(state.partner).kind);
    return together ? add(moving, combining) : moving;
  }

  // ---- events ----------------------------------------------------------------------------------------------

  void push(Ticks time, EventKind kind, int id) { events_.push({time, sequence_++, kind, id}); }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::arrival:
        arrived_[idx(event.id)] = true;
        trigger_ = -1 - event.id;
        for (std::size_t id = result_.first[idx(event.id)]; id < result_.first[idx(event.id) + 1]; ++id) {
          touch(static_cast<int>(id));
        }
        break;
      case EventKind::background:
        background_open_ = true;
        trigger_ = kBackground;
        for (std::size_t id = 0; id < states_.size(); ++id) touch(static_cast<int>(id));
        break;
      case EventKind::message:
        end_message(event.id);
        break;
      case EventKind::combined: {
        const Ports ports = ports_of(event.id);
        release(ports.a, event.id);
        if (ports.b != ports.a) release(ports.b, event.id);
        finish(event.id);
        break;
      }
      case EventKind::copied:
        finish(event.id);
    }
  }

  void end_message(int send) {
    const int receive = states_[idx(send)].partner;
    const Ports ports = ports_of(send);
    release(ports.a, send);
    if (combines(op(receive).kind) && machine_.combining == Combining::exclusive) {
      // The receiving port stays taken until the combining has ended.
      states_[idx(receive)].cause = send;
      claim(send_port(states_[idx(receive)].rank), ports.b, receive);
      finish(send);
      return;
    }
    release(ports.b, send);
    if (combines(op(receive).kind) && machine_.combining == Combining::overlapped) {
      states_[idx(receive)].landed = true;
      trigger_ = send;
      touch(receive);
    } else {
      finish(receive);
    }
    finish(send);
  }

  /// Combining on `held` begins when `port` is free too.
  void claim(int port, int held, int id) {
    if (port != held && ports_[idx(port)].busy) {
      ports_[idx(port)].claim = id;
      return;
    }
    ports_[idx(port)].busy = true;
    push(add(now_, duration(id)), EventKind::combined, id);
  }

  void release(int port, int by) {
    Port& p = ports_[idx(port)];
    p.busy = false;
    p.released_by = by;
    if (p.claim != kNone) {
      const int id = p.claim;
      p.claim = kNone;
      states_[idx(id)].cause = by;
      claim(port, port, id);
    } else {
      freed_.push_back(port);
    }
  }

  void finish(int id) {
    State& state = states_[idx(id)];
    state.ended = true;
    result_.ops[idx(id)].end = now_;
    result_.exit[idx(state.rank)] = std::max(result_.exit[idx(state.rank)], now_);
    --unfinished_;
    trigger_ = id;
    for (std::size_t k = dependents_end_[idx(id)]; k < dependents_end_[idx(id) + 1]; ++k) {
      --states_[idx(dependents_[k])].unmet;
      touch(dependents_[k]);
    }
    if (op(id).credit == Credit::give) {
      Credits& credits = credits_[idx(state.rank)];
      ++credits.left;
      credits.given_by = id;
      to_serve_.push_back(state.rank);
    }
    if (is_counted(op(id))) {
      Lane& lane = lane_of(state.rank, op(id).kind == OpKind::send);
      --lane.open;
      advance(lane);
    }
  }

  void advance(Lane& lane) {
    while (lane.open < lane.window && lane.next < lane.end) {
      const int id = lane_ops_[idx(lane.next++)];
      states_[idx(id)].in_window = true;
      ++lane.open;
      touch(id);
    }
  }

  /// Something that op `id` may have waited for has happened: starts what it can.
  void touch(int id) {
    State& state = states_[idx(id)];
    const OpKind kind = op(id).kind;
    const bool arrived = arrived_[idx(state.rank)];
    const bool may_run = state.unmet == 0 && (arrived || (background_open_ && state.early));
    const bool lands_aside = kind == OpKind::recv_combine && machine_.combining == Combining::overlapped;
    if (!state.posted) {
      const bool may_post = lands_aside && is_counted(op(id)) ? arrived || background_open_ : may_run;
      if (!may_post || !(state.in_window || is_local(kind))) return;
      if (op(id).credit == Credit::take) {
        ask(id);
      } else {
        post(id);
      }
    } else if (lands_aside && state.landed && !state.activated && may_run) {
      state.activated = true;
      request(id, state.index, state.index);
    }
  }

  void post(int id) {
    State& state = states_[idx(id)];
    const OpKind kind = op(id).kind;
    state.posted = true;
    result_.ops[idx(id)].posted = now_;
    if (kind == OpKind::copy) {
      state.cause = trigger_;
      result_.ops[idx(id)].start = now_;
      push(now_, EventKind::copied, id);
    } else if (kind == OpKind::combine) {
      request(id, state.index, state.index);
    } else if (states_[idx(state.partner)].posted) {
      const int other = states_[idx(state.partner)].index;
      request(kind == OpKind::send ? id : state.partner, std::max(state.index, other),
              std::min(state.index, other));
    }
  }

  void ask(int id) {
    State& state = states_[idx(id)];
    if (state.asked) return;
    state.asked = true;
    state.cause = trigger_;
    const int next = static_cast<int>(peer_orders_.size());
    const int order = peer_orders_.try_emplace({state.rank, op(id).peer}, next).first->second;
    credits_[idx(state.rank)].asking.push({order, sequence_++, now_, id});
    to_serve_.push_back(state.rank);
  }

  /// Gives credits to the takes of the peer whose first take was ready first (see Credit).
  void serve_takes() {
    for (const Rank rank : to_serve_) {
      Credits& credits = credits_[idx(rank)];
      while (credits.left > 0 && !credits.asking.empty()) {
        const Asking next = credits.asking.top();
        credits.asking.pop();
        --credits.left;
        trigger_ = next.since == now_ ? states_[idx(next.id)].cause : credits.given_by;
        post(next.id);
      }
    }
    to_serve_.clear();
  }

  // ---- ports -----------------------------------------------------------------------------------------------

  void request(int id, int late_index, int early_index) {
    states_[idx(id)].cause = trigger_;
    requests_.push({late_index, early_index, id, kNone});
  }

  /// Gives the free ports to what waits for them. Whatever still waits afterwards waits at a port that is busy, so
  /// that it is looked at again when that port, and no other, becomes free.
  void arbitrate() {
    serve_takes();
    for (const int port : freed_) take_next(port);
    freed_.clear();
    while (!requests_.empty()) {
      Request request = requests_.top();
      requests_.pop();
      const Ports ports = ports_of(request.id);
      const int origin = request.port;
      if (!ports_[idx(ports.a)].busy && !ports_[idx(ports.b)].busy) {
        if (origin != kNone) states_[idx(request.id)].cause = ports_[idx(origin)].released_by;
        start(request.id, ports);
      } else {
        request.port = ports_[idx(ports.a)].busy ? ports.a : ports.b;
        ports_[idx(request.port)].waiting.push(request);
      }
      if (origin != kNone) take_next(origin);
    }
  }

  void take_next(int port) {
    Port& p = ports_[idx(port)];
    if (p.busy || p.waiting.empty()) return;
    requests_.push(p.waiting.top());
    p.waiting.pop();
  }

  void start(int id, Ports ports) {
    ports_[idx(ports.a)].busy = true;
    ports_[idx(ports.b)].busy = true;
    const bool message = op(id).kind == OpKind::send;
    if (op(id).kind != OpKind::recv_combine) result_.ops[idx(id)].start = now_;
    if (message) result_.ops[idx(states_[idx(id)].partner)].start = now_;
    push(add(now_, duration(id)), message ? EventKind::message : EventKind::combined, id);
  }

  // ---- the end ---------------------------------------------------------------------------------------------

  void report_deadlock() const {
    const auto waits = std::ranges::find(states_, false, &State::ended);
    throw std::runtime_error("simulate: deadlock: rank " + std::to_string(waits->rank) + " waits in op " +
                             std::to_string(waits->index) + " (" +
                             describe(programs_(waits->rank)[waits->index]) + ")");
  }

  void summarise(Ticks first_arrival) {
    const auto last_exit = std::ranges::max_element(result_.exit);
    result_.run_time = *last_exit - first_arrival;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      result_.elapsed_sum = add(result_.elapsed_sum, result_.exit[idx(r)] - arrivals_[idx(r)]);
    }
    const auto last = static_cast<Rank>(last_exit - result_.exit.begin());
    result_.critical_arrival = last;
    if (*last_exit == arrivals_[idx(last)]) return;
    int id = kNone;
    for (std::size_t k = result_.first[idx(last)]; k < result_.first[idx(last) + 1]; ++k) {
      if (result_.ops[k].end == *last_exit) id = static_cast<int>(k);
    }
    while (id >= 0) {
      if (stands_for_its_send(id)) id = states_[idx(id)].partner;
      result_.critical_path.push_back({states_[idx(id)].rank, states_[idx(id)].index});
      id = states_[idx(id)].cause;
    }
    result_.critical_arrival = id == kBackground ? -1 : -1 - id;
  }

  [[nodiscard]] bool stands_for_its_send(int id) const {
    const OpKind kind = op(id).kind;
    return kind == OpKind::recv ||
           (kind == OpKind::recv_combine && machine_.combining == Combining::in_message);
  }

  const Shape& shape_;
  const ProgramSource& programs_;
  std::span<const Ticks> arrivals_;
  const Machine machine_;
  const Conduct conduct_;

  std::vector<State> states_;
  std::vector<int> dependents_;  // of op id: [dependents_end_[id], dependents_end_[id+1])
  std::vector<std::size_t> dependents_end_;
  std::vector<int> lane_ops_;
  std::vector<Lane> lanes_;  // per rank: sends, receives
  std::vector<Port> ports_;  // per rank: send, receive, processor
  std::vector<int> freed_;
  std::vector<Credits> credits_;                      // per rank
  std::map<std::pair<Rank, Rank>, int> peer_orders_;  // (rank, peer) -> when the peer's first take was ready
  std::vector<Rank> to_serve_;
  MinHeap<Request> requests_;
  MinHeap<Event> events_;
  std::vector<bool> arrived_;
  bool background_open_ = false;
  Ticks now_ = 0;
  std::uint64_t sequence_ = 0;
  int trigger_ = kNone;  // what is being handled: as State::cause
  std::size_t unfinished_ = 0;
  Simulation result_;
};

}  // namespace

Simulation simulate(const Schedule& schedule, std::span<const std::int64_t> slot_bytes,
                    std::span<const Ticks> arrivals, const Machine& machine, const Conduct& conduct) {
  require(schedule.programs.size() == idx(schedule.shape.ranks), "not one program per rank");
  const ProgramSource programs = [&](Rank r) -> const Program& { return schedule.programs[idx(r)]; };
  return simulate(schedule.shape, programs, slot_bytes, arrivals, machine, conduct);
}

Simulation simulate(const Shape& shape, const ProgramSource& programs,
                    std::span<const std::int64_t> slot_bytes, std::span<const Ticks> arrivals,
                    const Machine& machine, const Conduct& conduct) {
  return Engine(shape, programs, slot_bytes, arrivals, machine, conduct).run();
}

std::vector<std::int64_t> slot_sizes(const Shape& shape, std::span<const std::int64_t> block_bytes) {
  if (block_bytes.size() != 1 && block_bytes.size() != idx(shape.blocks())) {
    throw std::invalid_argument("slot_sizes: neither one size nor one per block");
  }
  std::vector<std::int64_t> result(idx(shape.slots()));
  for (int slot = 0; slot < shape.slots(); ++slot) {
    result[idx(slot)] = block_bytes.size() == 1 ? block_bytes[0] : block_bytes[idx(shape.block_of(slot))];
  }
  return result;
}

}  // namespace papfft::comm
