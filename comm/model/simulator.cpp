// SPDX-License-Identifier: MIT
#include "comm/model/simulator.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/core/messages.hpp"
#include "comm/schedule/core/print.hpp"

namespace papfft::comm {

namespace {

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
// its send, combining by the op that combines. An activity needs one or more ports, all at once.
class Engine {
 public:
  Engine(const Shape& shape, const ProgramSource& programs, std::span<const std::int64_t> slot_bytes,
         std::span<const Ticks> arrivals, const Machine& machine, const Conduct& conduct)
      : shape_(shape),
        programs_(programs),
        arrivals_(arrivals),
        machine_(machine),
        conduct_(conduct),
        hosts_(shape.ranks, machine.host_of_rank) {
    check_arguments(slot_bytes);
    read_programs(slot_bytes);
  }

  Simulation run() {
    for (Rank r = 0; r < shape_.ranks; ++r) push(arrivals_[idx(r)], EventKind::arrival, r);
    const Ticks first_arrival = *std::ranges::min_element(arrivals_);
    if (conduct_.early != Early::nothing) {
      push(conduct_.early_from.value_or(first_arrival), EventKind::background, 0);
    }
    while (!events_.empty()) {
      now_ = events_.top().time;
      if (now_ > first_arrival && now_ - first_arrival > conduct_.most_run_time)
        return give_up(first_arrival);
      while (!events_.empty() && events_.top().time == now_) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      arbitrate();
    }
    report_deadlock();
    summarise(first_arrival);
    return std::move(result_);
  }

 private:
  static constexpr int kNone = -1;
  static constexpr int kBackground = std::numeric_limits<int>::min();  // as a cause

  enum class EventKind : std::uint8_t { arrival, background, message, delivery, combined, done };
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
    OpKind kind = OpKind::send;
    bool is_empty = false;  // names no slots
    bool is_asked = false;  // of a send: it has asked for its ports
    bool is_there = false;  // of a send: its message has come before the receive was posted
    int partner = kNone;    // id of the other end
    int cause = kNone;  // of the activity: id of the op whose end let it start, or -1 - rank, or kBackground
    std::int64_t bytes = 0;
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

  struct Port {
    int places = 1;  // for so many activities at a time
    int taken = 0;
    [[nodiscard]] bool is_full() const { return taken == places; }
    int released_by = kNone;
    int claim = kNone;  // combining that takes the port as soon as it is free
    MinHeap<Request> waiting;
  };

  /// Those that an activity occupies, each once. What a rank has of its own comes first.
  class Ports {
   public:
    explicit Ports(std::initializer_list<int> ports) {
      for (const int port : ports) add(port);
    }
    void add(int port) {
      if (std::ranges::find(begin(), end(), port) == end()) ports_[count_++] = port;
    }
    [[nodiscard]] const int* begin() const { return ports_.data(); }
    [[nodiscard]] const int* end() const { return ports_.data() + count_; }

   private:
    std::array<int, 4> ports_{};
    std::size_t count_ = 0;
  };

  // ---- preparation -----------------------------------------------------------------------------------------

  void check_arguments(std::span<const std::int64_t> slot_bytes) const {
    require(shape_.ranks >= 1, "no ranks");
    require(arrivals_.size() == idx(shape_.ranks), "not one arrival per rank");
    require(slot_bytes.size() == idx(shape_.slots()), "not one size per slot");
    require(std::ranges::all_of(slot_bytes, [](std::int64_t b) { return b >= 0; }), "negative slot size");
    require(machine_.alpha >= 0 && machine_.beta >= 0 && machine_.gamma >= 0, "negative cost");
    require(machine_.inside.alpha >= 0 && machine_.inside.beta >= 0 && machine_.inside.gamma >= 0,
            "negative cost inside a host");
    require(machine_.latency >= 0 && machine_.inside.latency >= 0, "negative latency");
    const bool is_plain = machine_.latency == 0 && machine_.inside.latency == 0 && machine_.eager_bytes < 0 &&
                          machine_.inside.eager_bytes < 0;
    require(is_plain || machine_.combining == Combining::overlapped,
            "latency and eager messages need combining beside messages");
    require(machine_.card_ports >= 1, "a host's card needs a port");
    require(conduct_.window.sends >= 1 && conduct_.window.receives >= 1, "the window must admit one message");
  }

  /// All that is needed of the ops, so that no program is kept.
  void read_programs(std::span<const std::int64_t> slot_bytes) {
    const SlotSizes sizes(slot_bytes);
    const Rules rules{
        .window = conduct_.window,
        .landing = machine_.combining == Combining::overlapped ? Landing::aside : Landing::in_place};
    MessageMatcher matcher;
    result_.first.assign(idx(shape_.ranks) + 1, 0);
    progress_.reserve(idx(shape_.ranks));
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = programs_(r);
      for (const Op& op : program.ops()) {
        check(op, r);
        states_.push_back(
            {.rank = r, .kind = op.kind, .is_empty = op.blocks.count() == 0, .bytes = sizes.of(op.blocks)});
        matcher.add(r, op);
      }
      progress_.emplace_back(shape_, program, sizes, rules, held_back(shape_, r, program, conduct_.early));
      progress_.back().observe(conduct_.observer, r);
      result_.first[idx(r) + 1] = states_.size();
      require(states_.size() < idx(std::numeric_limits<int>::max()), "too many ops");
    }
    result_.ops.resize(states_.size());
    result_.exit.assign(arrivals_.begin(), arrivals_.end());
    ports_.resize(3 * idx(shape_.ranks) + 2 * idx(hosts_.count()));
    for (std::size_t port = idx(port_out_of(0)); port < ports_.size(); ++port)
      ports_[port].places = machine_.card_ports;
    const std::vector<int> partners = matcher.partners();
    for (std::size_t id = 0; id < states_.size(); ++id) {
      State& state = states_[id];
      if (is_local(state.kind)) continue;
      state.partner = partners[id];
      require(state.partner >= 0 && op(state.partner).bytes == state.bytes &&
                  op(state.partner).is_empty == state.is_empty,
              "sends and receives do not meet");
    }
  }

  void check(const Op& op, Rank rank) const {
    require(0 <= op.blocks.first && op.blocks.first <= op.blocks.last && op.blocks.last <= shape_.slots(),
            "an op names slots that do not exist");
    require(is_local(op.kind) || (op.peer >= 0 && op.peer < shape_.ranks && op.peer != rank),
            "an op has no such peer");
  }

  // ---- access ----------------------------------------------------------------------------------------------

  [[nodiscard]] int id_of(Rank r, int i) const { return static_cast<int>(result_.first[idx(r)]) + i; }
  [[nodiscard]] int index_of(int id) const { return id - static_cast<int>(result_.first[idx(op(id).rank)]); }
  [[nodiscard]] const State& op(int id) const { return states_[idx(id)]; }
  [[nodiscard]] static int send_port(Rank r) { return 3 * r; }
  [[nodiscard]] int receive_port(Rank r) const { return 3 * r + (machine_.duplex ? 1 : 0); }
  [[nodiscard]] static int processor(Rank r) { return 3 * r + 2; }
  [[nodiscard]] int port_out_of(int host) const { return 3 * shape_.ranks + 2 * host; }
  [[nodiscard]] int port_into(int host) const { return port_out_of(host) + (machine_.duplex ? 1 : 0); }
  /// The card of a rank that is alone on its host is the rank's own port.
  [[nodiscard]] bool shares_card(Rank r) const { return hosts_.members(hosts_.of(r)).size() > 1; }
  [[nodiscard]] bool is_inside(const State& message) const {
    return message.partner != kNone && hosts_.of(message.rank) == hosts_.of(op(message.partner).rank);
  }

  [[nodiscard]] Ports ports_of(int id) const {
    const State& state = op(id);
    if (state.kind != OpKind::send) {
      if (machine_.combining == Combining::overlapped) return Ports{processor(state.rank)};
      return Ports{send_port(state.rank), receive_port(state.rank)};
    }
    const Rank receiver = op(state.partner).rank;
    Ports ports{send_port(state.rank), receive_port(receiver)};
    if (is_inside(state)) return ports;
    if (shares_card(state.rank)) ports.add(port_out_of(hosts_.of(state.rank)));
    if (shares_card(receiver)) ports.add(port_into(hosts_.of(receiver)));
    return ports;
  }

  [[nodiscard]] Ticks duration(int id) const {
    const State& state = states_[idx(id)];
    const bool inside = is_inside(state);
    const Ticks combining = times(inside ? machine_.inside.gamma : machine_.gamma, state.bytes);
    if (op(id).kind != OpKind::send) return combining;
    if (state.is_empty && machine_.empty_is_free) return 0;
    const Ticks moving = add(inside ? machine_.inside.alpha : machine_.alpha,
                             times(inside ? machine_.inside.beta : machine_.beta, state.bytes));
    const bool together = machine_.combining == Combining::in_message && combines(op(state.partner).kind);
    return together ? add(moving, combining) : moving;
  }

  // ---- events ----------------------------------------------------------------------------------------------

  void push(Ticks time, EventKind kind, int id) { events_.push({time, sequence_++, kind, id}); }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::arrival:
        progress_[idx(event.id)].arrive();
        advance(event.id, -1 - event.id);
        break;
      case EventKind::background:
        for (Rank r = 0; r < shape_.ranks; ++r) {
          progress_[idx(r)].begin();
          advance(r, kBackground);
        }
        break;
      case EventKind::message:
        end_message(event.id);
        break;
      case EventKind::delivery:
        deliver(event.id);
        break;
      case EventKind::combined:
        for (const int port : ports_of(event.id)) release(port, event.id);
        finish(event.id);
        break;
      case EventKind::done:
        finish(event.id);
    }
  }

  void end_message(int send) {
    const int receive = states_[idx(send)].partner;
    const Rank receiver = op(receive).rank;
    // The receiver's own port stays taken until the combining has ended.
    const int kept = combines(op(receive).kind) && machine_.combining == Combining::exclusive
                         ? receive_port(receiver)
                         : kNone;
    for (const int port : ports_of(send)) {
      if (port != kept) release(port, send);
    }
    if (kept != kNone) {
      states_[idx(receive)].cause = send;
      claim(send_port(receiver), kept, receive);
      finish(send);
      return;
    }
    const Ticks latency = is_inside(op(send)) ? machine_.inside.latency : machine_.latency;
    if (latency > 0) {
      push(add(now_, latency), EventKind::delivery, send);
    } else {
      deliver(send);
    }
    finish(send);
  }

  /// The receiver has it.
  void deliver(int send) {
    const int receive = states_[idx(send)].partner;
    const Rank receiver = op(receive).rank;
    if (result_.ops[idx(receive)].posted < 0) {
      states_[idx(send)].is_there = true;
      return;
    }
    if (progress_[idx(receiver)].lands_aside(index_of(receive))) {
      progress_[idx(receiver)].landed(index_of(receive));
      advance(receiver, send);
    } else if (combines(op(receive).kind) && machine_.combining == Combining::overlapped) {
      request(receive, receive, send);
    } else {
      finish(receive);
    }
  }

  /// Combining on `held` begins when `port` is free too.
  void claim(int port, int held, int id) {
    if (port != held && ports_[idx(port)].is_full()) {
      ports_[idx(port)].claim = id;
      return;
    }
    ports_[idx(port)].taken = 1;
    push(add(now_, duration(id)), EventKind::combined, id);
  }

  void release(int port, int by) {
    Port& p = ports_[idx(port)];
    --p.taken;
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
    const Rank rank = op(id).rank;
    result_.ops[idx(id)].end = now_;
    result_.exit[idx(rank)] = std::max(result_.exit[idx(rank)], now_);
    progress_[idx(rank)].ended(index_of(id));
    advance(rank, id);
  }

  /// Posts what a rank may start because of `cause` (see State).
  void advance(Rank rank, int cause) {
    for (auto i = progress_[idx(rank)].next(); i; i = progress_[idx(rank)].next()) {
      const int id = id_of(rank, *i);
      if (progress_[idx(rank)].phase(*i) == Progress::Phase::landed) {
        request(id, id, cause);
      } else {
        post(id, *i, cause);
      }
    }
  }

  void post(int id, int index, int cause) {
    State& state = states_[idx(id)];
    result_.ops[idx(id)].posted = now_;
    if (state.kind == OpKind::combine) {
      request(id, id, cause);
    } else if (progress_[idx(state.rank)].is_local(index)) {
      state.cause = cause;
      result_.ops[idx(id)].start = now_;
      push(now_, EventKind::done, id);
    } else if (state.kind == OpKind::send) {
      if (result_.ops[idx(state.partner)].posted >= 0 || is_eager(state)) ask(id, cause);
    } else if (op(state.partner).is_there) {
      push(now_, EventKind::delivery, state.partner);
    } else if (result_.ops[idx(state.partner)].posted >= 0 && !op(state.partner).is_asked) {
      ask(state.partner, cause);
    }
  }

  [[nodiscard]] bool is_eager(const State& send) const {
    return send.bytes <= (is_inside(send) ? machine_.inside.eager_bytes : machine_.eager_bytes);
  }

  /// A message may move as soon as it has its ports.
  void ask(int send, int cause) {
    states_[idx(send)].is_asked = true;
    request(send, op(send).partner, cause);
  }

  // ---- ports -----------------------------------------------------------------------------------------------

  /// @param other  the other end of a message, else the same op
  void request(int id, int other, int cause) {
    states_[idx(id)].cause = cause;
    const auto [early, late] = std::minmax({index_of(id), index_of(other)});
    requests_.push({late, early, id, kNone});
  }

  /// Gives the free ports to what waits for them. Whatever still waits afterwards waits at a port that is busy, so
  /// that it is looked at again when that port, and no other, becomes free.
  void arbitrate() {
    for (const int port : freed_) take_next(port);
    freed_.clear();
    while (!requests_.empty()) {
      Request request = requests_.top();
      requests_.pop();
      const Ports ports = ports_of(request.id);
      const int origin = request.port;
      const int* busy = std::ranges::find_if(ports, [&](int port) { return ports_[idx(port)].is_full(); });
      if (busy == ports.end()) {
        if (origin != kNone) states_[idx(request.id)].cause = ports_[idx(origin)].released_by;
        start(request.id, ports);
      } else {
        request.port = *busy;
        ports_[idx(*busy)].waiting.push(request);
      }
      if (origin != kNone) take_next(origin);
    }
  }

  void take_next(int port) {
    Port& p = ports_[idx(port)];
    if (p.is_full() || p.waiting.empty()) return;
    requests_.push(p.waiting.top());
    p.waiting.pop();
  }

  void start(int id, const Ports& ports) {
    for (const int port : ports) ++ports_[idx(port)].taken;
    const bool message = op(id).kind == OpKind::send;
    if (op(id).kind != OpKind::recv_combine) result_.ops[idx(id)].start = now_;
    if (message) result_.ops[idx(states_[idx(id)].partner)].start = now_;
    push(add(now_, duration(id)), message ? EventKind::message : EventKind::combined, id);
  }

  // ---- the end ---------------------------------------------------------------------------------------------

  /// What is to come ends an op now or later.
  Simulation give_up(Ticks first_arrival) const {
    Simulation given_up;
    given_up.run_time = now_ - first_arrival;
    given_up.is_given_up = true;
    return given_up;
  }

  void report_deadlock() const {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      if (progress_[idx(r)].done()) continue;
      int i = 0;
      while (progress_[idx(r)].phase(i) == Progress::Phase::ended) ++i;
      throw std::runtime_error("simulate: deadlock: rank " + std::to_string(r) + " waits in op " +
                               std::to_string(i) + " (" + describe(programs_(r)[i]) + ")");
    }
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
      result_.critical_path.push_back({states_[idx(id)].rank, index_of(id)});
      id = states_[idx(id)].cause;
    }
    result_.critical_arrival = id == kBackground ? -1 : -1 - id;
  }

  [[nodiscard]] bool stands_for_its_send(int id) const {
    const OpKind kind = op(id).kind;
    if (progress_[idx(op(id).rank)].is_local(index_of(id))) return false;
    return kind == OpKind::recv ||
           (kind == OpKind::recv_combine && machine_.combining == Combining::in_message);
  }

  const Shape& shape_;
  const ProgramSource& programs_;
  std::span<const Ticks> arrivals_;
  const Machine machine_;
  const Conduct conduct_;

  const Hosts hosts_;

  std::vector<State> states_;
  std::vector<Progress> progress_;  // per rank
  std::vector<Port> ports_;         // per rank: send, receive, processor; per host: out, in
  std::vector<int> freed_;
  MinHeap<Request> requests_;
  MinHeap<Event> events_;
  Ticks now_ = 0;
  std::uint64_t sequence_ = 0;
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

std::vector<bool> held_back(const Shape& shape, Rank rank, const Program& program, Early early) {
  if (early == Early::nothing) return {};
  std::vector<bool> needs = needs_arrival(shape, rank, program);
  for (int i = 0; i < program.size() && early == Early::paper_figures; ++i) {
    if (is_receive(program[i].kind) && program[i].blocks.count() == 0) needs[idx(i)] = true;
  }
  return needs;
}

std::vector<std::int64_t> slot_sizes(const Shape& shape, std::span<const std::int64_t> block_bytes) {
  if (block_bytes.size() != 1 && (shape.per_pair() || block_bytes.size() != idx(shape.blocks()))) {
    throw std::invalid_argument("slot_sizes: neither one size nor one per block");
  }
  std::vector<std::int64_t> result(idx(shape.slots()));
  for (int slot = 0; slot < shape.slots(); ++slot) {
    result[idx(slot)] = block_bytes.size() == 1 ? block_bytes[0] : block_bytes[idx(shape.block_of(0, slot))];
  }
  return result;
}

}  // namespace papfft::comm
