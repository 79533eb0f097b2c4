// SPDX-License-Identifier: MIT
#include "app/model/simulated_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "app/cli/exit_code.hpp"
#include "app/model/simulate_settings.hpp"

namespace papfft::app {

using comm::Ticks;

double ns_of(Ticks ticks) { return static_cast<double>(ticks) / static_cast<double>(kTicksPerNs); }

io::Json messages_json(const comm::Schedule& schedule, const comm::Simulation& result,
                       std::span<const std::int64_t> slot_bytes, std::span<const Ticks> arrivals) {
  using Json = io::Json;
  constexpr std::size_t kMost = 20000;
  const Ticks first = std::ranges::min(arrivals);
  const auto ns = [&](Ticks at) { return ns_of(at - first); };
  std::set<std::pair<comm::Rank, int>> critical;
  for (const comm::OpRef& ref : result.critical_path) critical.emplace(ref.rank, ref.op);
  // The k-th send to a rank meets the k-th receive there.
  std::map<std::pair<comm::Rank, comm::Rank>, std::vector<int>> receives;
  for (comm::Rank r = 0; r < schedule.shape.ranks; ++r) {
    const comm::Program& program = schedule.programs[static_cast<std::size_t>(r)];
    for (int i = 0; i < program.size(); ++i) {
      if (comm::is_receive(program[i].kind)) receives[{program[i].peer, r}].push_back(i);
    }
  }
  Json json = {{"from", Json::array()},     {"to", Json::array()},         {"bytes", Json::array()},
               {"begin_ns", Json::array()}, {"end_ns", Json::array()},     {"combined_ns", Json::array()},
               {"critical", Json::array()}, {"arrival_ns", Json::array()}, {"exit_ns", Json::array()}};
  std::map<std::pair<comm::Rank, comm::Rank>, std::size_t> sent;
  for (comm::Rank r = 0; r < schedule.shape.ranks; ++r) {
    const comm::Program& program = schedule.programs[static_cast<std::size_t>(r)];
    for (int i = 0; i < program.size(); ++i) {
      const comm::Op& op = program[i];
      if (op.kind != comm::OpKind::send) continue;
      if (json["from"].size() == kMost) {
        throw UsageError(
            fmt::format("--messages: more than {} in one call; what would work: fewer --ranks or "
                        "--segments",
                        kMost));
      }
      std::int64_t bytes = 0;
      for (int slot = op.blocks.first; slot < op.blocks.last; ++slot)
        bytes += slot_bytes[static_cast<std::size_t>(slot)];
      const int receive = receives.at({r, op.peer})[sent[{r, op.peer}]++];
      const comm::OpTimes& times = result.at(r, i);
      json["from"].push_back(r);
      json["to"].push_back(op.peer);
      json["bytes"].push_back(bytes);
      json["begin_ns"].push_back(ns(times.start));
      json["end_ns"].push_back(ns(times.end));
      json["combined_ns"].push_back(ns(std::max(times.end, result.at(op.peer, receive).end)));
      json["critical"].push_back(critical.contains({r, i}) ? 1 : 0);
    }
    json["arrival_ns"].push_back(ns(arrivals[static_cast<std::size_t>(r)]));
    json["exit_ns"].push_back(ns(result.exit[static_cast<std::size_t>(r)]));
  }
  return json;
}

}  // namespace papfft::app
