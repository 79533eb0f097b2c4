// SPDX-License-Identifier: MIT
#include "app/model/simulated_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/cli/exit_code.hpp"
#include "app/model/simulate_settings.hpp"

namespace papfft::app {

using comm::Ticks;

namespace {

using Pair = std::pair<comm::Rank, comm::Rank>;

/// The k-th send to a rank meets the k-th receive there.
std::map<Pair, std::vector<int>> receives_of(const comm::Schedule& schedule) {
  std::map<Pair, std::vector<int>> receives;
  for (comm::Rank r = 0; r < schedule.shape.ranks; ++r) {
    const comm::Program& program = schedule.programs[static_cast<std::size_t>(r)];
    for (int i = 0; i < program.size(); ++i) {
      if (comm::is_receive(program[i].kind)) receives[{program[i].peer, r}].push_back(i);
    }
  }
  return receives;
}

}  // namespace

double ns_of(Ticks ticks) { return static_cast<double>(ticks) / static_cast<double>(kTicksPerNs); }

std::vector<SimulatedMessage> messages_of(const comm::Schedule& schedule, const comm::Simulation& result,
                                          std::span<const std::int64_t> slot_bytes) {
  std::set<Pair> critical;  // rank, op
  for (const comm::OpRef& ref : result.critical_path) critical.emplace(ref.rank, ref.op);
  const std::map<Pair, std::vector<int>> receives = receives_of(schedule);
  std::map<Pair, std::size_t> sent;
  std::vector<SimulatedMessage> messages;
  for (comm::Rank r = 0; r < schedule.shape.ranks; ++r) {
    const comm::Program& program = schedule.programs[static_cast<std::size_t>(r)];
    for (int i = 0; i < program.size(); ++i) {
      const comm::Op& op = program[i];
      if (op.kind != comm::OpKind::send) continue;
      std::int64_t bytes = 0;
      for (int slot = op.blocks.first; slot < op.blocks.last; ++slot)
        bytes += slot_bytes[static_cast<std::size_t>(slot)];
      const int receive = receives.at({r, op.peer})[sent[{r, op.peer}]++];
      const comm::OpTimes& times = result.at(r, i);
      messages.push_back({.from = r,
                          .to = op.peer,
                          .bytes = bytes,
                          .begin = times.start,
                          .end = times.end,
                          .combined = std::max(times.end, result.at(op.peer, receive).end),
                          .critical = critical.contains({r, i})});
    }
  }
  return messages;
}

io::Json messages_json(const comm::Schedule& schedule, const comm::Simulation& result,
                       std::span<const std::int64_t> slot_bytes, std::span<const Ticks> arrivals,
                       std::span<const int> host_of_rank) {
  using Json = io::Json;
  constexpr std::size_t kMost = 20000;
  const std::vector<SimulatedMessage> messages = messages_of(schedule, result, slot_bytes);
  if (messages.size() > kMost) {
    throw UsageError(fmt::format(
        "--messages: more than {} in one call; what would work: fewer --ranks or --segments", kMost));
  }
  const Ticks first = std::ranges::min(arrivals);
  const auto ns = [&](Ticks at) { return ns_of(at - first); };
  Json json = {{"from", Json::array()},     {"to", Json::array()},         {"bytes", Json::array()},
               {"begin_ns", Json::array()}, {"end_ns", Json::array()},     {"combined_ns", Json::array()},
               {"critical", Json::array()}, {"arrival_ns", Json::array()}, {"exit_ns", Json::array()}};
  for (const SimulatedMessage& m : messages) {
    json["from"].push_back(m.from);
    json["to"].push_back(m.to);
    json["bytes"].push_back(m.bytes);
    json["begin_ns"].push_back(ns(m.begin));
    json["end_ns"].push_back(ns(m.end));
    json["combined_ns"].push_back(ns(m.combined));
    json["critical"].push_back(m.critical ? 1 : 0);
  }
  for (std::size_t r = 0; r < arrivals.size(); ++r) {
    json["arrival_ns"].push_back(ns(arrivals[r]));
    json["exit_ns"].push_back(ns(result.exit[r]));
  }
  for (const int host : host_of_rank) json["host"].push_back(host);
  return json;
}

}  // namespace papfft::app
