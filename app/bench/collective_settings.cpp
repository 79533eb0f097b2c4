// SPDX-License-Identifier: MIT
#include "app/bench/collective_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/byte_count.hpp"
#include "app/run/job_options.hpp"
#include "comm/choose/select.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

using comm::Operation;

using Word = std::uint32_t;
constexpr std::string_view kStockNumber = "mpi:";

/// Stock MPI's non-blocking call that can be posted early; nullptr: the operation has no part that stock MPI can be asked to do
/// before its caller arrives.
const char* early_peer(Operation operation) {
  if (operation == Operation::gather) return "mpi-igather";
  return operation == Operation::scatter ? "mpi-iscatter" : nullptr;
}

/// How many words each rank's block has, of `words` in all.
/// @param kind  "regular"; "irregular", CIR Sect. 3.2: in turns 0, 1 and 2 times the mean, and the rest for the last;
///              "degenerate": all with rank 0. @throws UsageError
std::vector<std::size_t> block_counts(const std::string& kind, std::size_t words, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts(p, words / p);
  if (kind == "degenerate") {
    std::ranges::fill(counts, 0);
    counts[0] = words;
  } else if (kind == "irregular") {
    std::size_t left = words;
    for (std::size_t r = 0; r + 1 < p; ++r) {
      counts[r] = std::min(left, r % 3 * (words / p));
      left -= counts[r];
    }
    counts.back() = left;
  } else if (kind != "regular") {
    throw UsageError("no block sizes '" + kind + "' as --counts; known: regular, irregular, degenerate");
  }
  return counts;
}

}  // namespace

std::vector<std::size_t> Case::bytes_of_blocks() const {
  if (counts.empty()) return {block_bytes};
  std::vector<std::size_t> bytes = counts;
  for (std::size_t& b : bytes) b *= sizeof(Word);
  return bytes;
}

CollectiveSettings::CollectiveSettings(const CollectiveOptions& o)
    : operation(comm::parse_operation(o.operation)),
      compute(parse_duration_ns(o.compute)),
      work(o.work),
      counts(o.counts) {
  if (counts != "regular" && !comm::traits(operation).takes_sizes) {
    std::string known;
    for (const comm::OperationTraits& row : comm::kOperations) {
      if (row.takes_sizes) known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    throw UsageError("bench collective --op " + o.operation + ": --counts is for " + known);
  }
  add({.name = "mpi"});
  for (const std::string& name : o.algorithms) {
    if (name != "all") {
      add(contender(name));
      continue;
    }
    for (const comm::Algorithm* a : comm::algorithms()) {
      if (a->operation == operation) add({.name = std::string(a->name)});
    }
  }
  for (const std::string& text : o.bytes) bytes.push_back(report::parse_byte_count(text));
  for (const std::string& text : o.delays) patterns.push_back(parse_arrivals(text, o.seed));
}

void CollectiveSettings::add(const Contender& contender) {
  if (std::ranges::find(contenders, contender.name, &Contender::name) == contenders.end())
    contenders.push_back(contender);
}

Contender CollectiveSettings::contender(const std::string& name) const {
  if (name == "mpi-best") return {name, Contender::Kind::stock_best};
  if (name == "mpi-han") return {name, Contender::Kind::stock_han};
  if (name == "mpi-lane") return {name, Contender::Kind::stock_lanes};
  if (name.starts_with(kStockNumber))
    return {name, Contender::Kind::stock_chosen, StockAlgorithm::parse(name.substr(kStockNumber.size()))};
  const char* early = early_peer(operation);
  if (early != nullptr && name == early) return {name, Contender::Kind::posted_early};
  (void)comm::choose(operation, name, 2, 0, false);
  return {.name = name};
}

bool CollectiveSettings::chooses_stock() const {
  return std::ranges::any_of(contenders, [](const Contender& c) {
    return c.kind == Contender::Kind::stock_chosen || c.kind == Contender::Kind::stock_best;
  });
}

std::vector<std::string> CollectiveSettings::names() const {
  std::vector<std::string> names;
  for (const Contender& c : contenders) names.push_back(c.name);
  return names;
}

Case CollectiveSettings::make_case(std::uint64_t asked_bytes, const ArrivalPattern& pattern,
                                   int ranks) const {
  if (!comm::moves_per_rank(operation)) {
    const std::size_t whole = asked_bytes / sizeof(Word) * sizeof(Word);
    return {.block_bytes = whole, .total_bytes = whole, .pattern = &pattern};
  }
  Case size{.pattern = &pattern, .counts = block_counts(counts, asked_bytes / sizeof(Word), ranks)};
  for (const std::size_t block : size.bytes_of_blocks()) size.total_bytes += block;
  size.block_bytes = size.total_bytes / static_cast<std::size_t>(ranks);
  return size;
}

void require_ranks(const std::string& command, int ranks, const CollectiveOptions& options,
                   const CollectiveSettings& settings) {
  if (ranks < 2) throw UsageError(command + ": what would work: two ranks or more");
  if (options.root >= ranks)
    throw UsageError(fmt::format("no rank {} among {} as --root", options.root, ranks));
  for (const ArrivalPattern& pattern : settings.patterns) {  // a pattern may name a rank that there is not
    (void)pattern.for_message(0).delay_ns(0, 0, ranks, options.root);
  }
}

}  // namespace papfft::app
