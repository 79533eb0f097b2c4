// SPDX-License-Identifier: MIT
#include "comm/schedule/core/registry.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace papfft::comm {

namespace {

std::vector<const Algorithm*>& registry() {
  static std::vector<const Algorithm*> all = {
#define PAPFFT_ALGORITHM(name) &(name),
#include "comm/schedule/core/registry.def"
#undef PAPFFT_ALGORITHM
  };
  return all;
}

void check(const Algorithm& algorithm, const Request& request) {
  const std::string who =
      std::string(to_string(algorithm.operation)) + " " + std::string(algorithm.name) + ": ";
  if (request.operation != algorithm.operation)
    throw std::invalid_argument(who + "asked for another operation");
  if (request.ranks < 1) throw std::invalid_argument(who + "needs at least one rank");
  if (request.root < 0 || request.root >= request.ranks) {
    throw std::invalid_argument(who + "no rank " + std::to_string(request.root) + " among " +
                                std::to_string(request.ranks));
  }
  if (request.segments < 1) throw std::invalid_argument(who + "needs at least one segment");
  if (!request.arrival_ns.empty() && request.arrival_ns.size() != static_cast<std::size_t>(request.ranks)) {
    throw std::invalid_argument(who + "needs one arrival time per rank, or none");
  }
  if (!request.host.empty() && request.host.size() != static_cast<std::size_t>(request.ranks)) {
    throw std::invalid_argument(who + "needs one host per rank, or none");
  }
  if (request.ordered && !algorithm.can_be_ordered) {
    throw std::invalid_argument(who + "needs a commutative operation");
  }
}

/// Made when it is first asked for, and kept for ever.
const Algorithm& composed(const Algorithm& flat, const Composition& composition) {
  struct Made {
    std::string name;
    Algorithm algorithm;
  };
  static std::mutex mutex;
  static auto* const all = new std::map<std::pair<const Algorithm*, const Composition*>, Made>;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = all->try_emplace({&flat, &composition});
  Made& made = at->second;
  if (is_new) {
    made.name = std::string(flat.name) + "@" + std::string(composition.name);
    made.algorithm = flat;
    made.algorithm.name = made.name;
    made.algorithm.can_be_ordered = false;
    made.algorithm.plans_root_alone = false;
    made.algorithm.whole = nullptr;
    made.algorithm.local = nullptr;
    made.algorithm.transfers = nullptr;
    made.algorithm.flat = &flat;
    made.algorithm.composition = &composition;
  }
  return made.algorithm;
}

const Algorithm& find_composed(Operation operation, std::string_view name, std::size_t at) {
  const Algorithm& flat = find_algorithm(operation, name.substr(0, at));
  std::string known;
  for (const Composition* composition : compositions()) {
    if (!composition->serves(flat)) continue;
    if (composition->name == name.substr(at + 1)) return composed(flat, *composition);
    known += (known.empty() ? "@" : ", @") + std::string(composition->name);
  }
  throw std::invalid_argument("no " + std::string(to_string(operation)) + " algorithm '" + std::string(name) +
                              "'; " + std::string(flat.name) + " can be had " +
                              (known.empty() ? "only as it is" : "as it is or with " + known));
}

}  // namespace

std::span<const Algorithm* const> algorithms() { return registry(); }

void register_algorithms(std::span<const Algorithm* const> more) {
  std::vector<const Algorithm*>& all = registry();
  for (const Algorithm* algorithm : more) {
    if (std::ranges::find(all, algorithm) != all.end()) continue;
    const auto is_later = [&](const Algorithm* a) { return a->operation > algorithm->operation; };
    all.insert(std::ranges::find_if(all, is_later), algorithm);
  }
}

const Algorithm& find_algorithm(Operation operation, std::string_view name) {
  if (const std::size_t at = name.find('@'); at != std::string_view::npos)
    return find_composed(operation, name, at);
  std::string known;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation != operation) continue;
    if (algorithm->name == name) return *algorithm;
    known += (known.empty() ? "" : ", ") + std::string(algorithm->name);
  }
  throw std::invalid_argument("no " + std::string(to_string(operation)) + " algorithm '" + std::string(name) +
                              "'; known: " + (known.empty() ? "none" : known));
}

Operation parse_operation(std::string_view name) {
  std::string known;
  for (const OperationTraits& row : kOperations) {
    if (row.name == name) return row.operation;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw std::invalid_argument("no operation '" + std::string(name) + "'; known: " + known);
}

Schedule make_schedule(const Algorithm& algorithm, const Request& request) {
  check(algorithm, request);
  if (algorithm.whole != nullptr) return algorithm.whole(request);
  if (algorithm.transfers != nullptr) return to_schedule(request, algorithm.transfers);
  Schedule schedule;
  schedule.programs.reserve(static_cast<std::size_t>(request.ranks));
  for (Rank r = 0; r < request.ranks; ++r) {
    RankSchedule part = make_rank_schedule(algorithm, request, r);
    schedule.shape = std::move(part.shape);
    schedule.programs.push_back(std::move(part.program));
  }
  return schedule;
}

RankSchedule make_rank_schedule(const Algorithm& algorithm, const Request& request, Rank rank) {
  check(algorithm, request);
  if (algorithm.composition != nullptr) return algorithm.composition->local(*algorithm.flat, request, rank);
  if (algorithm.local != nullptr) return algorithm.local(request, rank);
  if (algorithm.transfers != nullptr) return to_rank_schedule(request, rank, algorithm.transfers);
  Schedule schedule = algorithm.whole(request);
  return {std::move(schedule.shape), rank, std::move(schedule.programs.at(static_cast<std::size_t>(rank)))};
}

}  // namespace papfft::comm
