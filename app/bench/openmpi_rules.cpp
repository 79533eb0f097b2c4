// SPDX-License-Identifier: MIT
#include "app/bench/openmpi_rules.hpp"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace papfft::app {

namespace {

using comm::Operation;

/// Open MPI's numbers of the operations (COLLTYPE_T in coll_base_functions.h).
constexpr std::array<std::pair<Operation, int>, 9> kNumbers = {{{Operation::allgather, 0},
                                                                {Operation::allgatherv, 1},
                                                                {Operation::allreduce, 2},
                                                                {Operation::alltoall, 3},
                                                                {Operation::bcast, 7},
                                                                {Operation::gather, 9},
                                                                {Operation::reduce, 11},
                                                                {Operation::reduce_scatter, 12},
                                                                {Operation::scatter, 15}}};

std::string line(std::uint64_t bytes, const comm::StockAlgorithm& algorithm) {
  return std::to_string(bytes) + " " + std::to_string(algorithm.number) + " 0 " +
         std::to_string(algorithm.segment_bytes) + "\n";
}

}  // namespace

std::string openmpi_rules(int ranks, std::span<const StockDecision> decisions) {
  std::string rules;
  int operations = 0;
  for (const auto& [operation, number] : kNumbers) {
    std::vector<StockDecision> own;
    for (const StockDecision& d : decisions) {
      if (d.operation == operation) own.push_back(d);
    }
    if (own.empty()) continue;
    ++operations;
    rules += "# " + std::string(to_string(operation)) + "\n" + std::to_string(number) + "\n1\n" +
             std::to_string(ranks) + "\n" + std::to_string(own.size() + 1) + "\n" + line(0, {});
    std::uint64_t from = own.front().bytes / 2;
    for (std::size_t i = 0; i < own.size(); ++i) {
      rules += line(from, own[i].algorithm);
      if (i + 1 == own.size()) break;
      from = static_cast<std::uint64_t>(
          std::sqrt(static_cast<double>(own[i].bytes) * static_cast<double>(own[i + 1].bytes)));
    }
  }
  return "# Open MPI: coll_tuned_use_dynamic_rules=1, coll_tuned_dynamic_rules_filename=THIS_FILE\n# size, "
         "algorithm, "
         "fan-in/out, segment size\n" +
         std::to_string(operations) + "\n" + rules;
}

}  // namespace papfft::app
