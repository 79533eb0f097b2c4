// SPDX-License-Identifier: MIT
#include "app/bench/stock_algorithms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

#include "app/report/byte_count.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;

constexpr std::array<std::uint64_t, 4> kSegmentBytes = {0, 16384, 65536, 262144};

/// Open MPI's parameter of this name, as the tools interface of MPI shows it; -1: there is none, or it cannot be written.
int find_variable(const std::string& name, MPI_T_enum* values = nullptr) {
  int count = 0;
  check_mpi(MPI_T_cvar_get_num(&count), "MPI_T_cvar_get_num");
  for (int i = 0; i < count; ++i) {
    std::array<char, 256> found{};
    int length = static_cast<int>(found.size());
    int description = 0;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum of_values = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(i, found.data(), &length, &verbosity, &type, &of_values, nullptr, &description,
                            &binding, &scope) != MPI_SUCCESS ||
        name != found.data()) {
      continue;
    }
    if (values != nullptr) *values = of_values;
    return type == MPI_INT && scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY ? i : -1;
  }
  return -1;
}

void write_variable(int variable, int value) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  check_mpi(MPI_T_cvar_handle_alloc(variable, nullptr, &handle, &count), "MPI_T_cvar_handle_alloc");
  const int result = MPI_T_cvar_write(handle, &value);
  MPI_T_cvar_handle_free(&handle);
  check_mpi(result, "MPI_T_cvar_write");
}

std::map<int, std::string> names_in(MPI_T_enum values) {
  std::map<int, std::string> names;
  int count = 0;
  int length = 0;
  if (values == MPI_T_ENUM_NULL) return names;
  check_mpi(MPI_T_enum_get_info(values, &count, nullptr, &length), "MPI_T_enum_get_info");
  for (int i = 0; i < count; ++i) {
    std::array<char, 64> name{};
    length = static_cast<int>(name.size());
    int value = 0;
    check_mpi(MPI_T_enum_get_item(values, i, &value, name.data(), &length), "MPI_T_enum_get_item");
    if (value > 0) names[value] = name.data();  // 0 leaves the choice to the library
  }
  return names;
}

}  // namespace

StockAlgorithm StockAlgorithm::parse(std::string_view text) {
  StockAlgorithm algorithm;
  const std::size_t slash = text.find('/');
  const std::string_view digits = text.substr(0, slash);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), algorithm.number);
  if (error != std::errc() || end != digits.data() + digits.size() || algorithm.number < 1) {
    throw std::invalid_argument(
        "mpi:" + std::string(text) +
        " names no algorithm; what would work: mpi:3, or mpi:3/64K with segments of 64 KiB");
  }
  if (slash == std::string_view::npos) return algorithm;
  algorithm.segment_bytes = report::parse_byte_count(text.substr(slash + 1));
  if (algorithm.segment_bytes == 0 || algorithm.segment_bytes > std::numeric_limits<int>::max())
    throw std::invalid_argument("mpi:" + std::string(text) + ": a segment has 1 byte to 2 GiB");
  return algorithm;
}

std::string StockAlgorithm::text() const {
  return std::to_string(number) + (segment_bytes == 0 ? "" : "/" + report::byte_count_text(segment_bytes));
}

void StockAlgorithms::enable() { setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1); }

StockAlgorithms::StockAlgorithms(comm::Operation operation) : operation_(comm::to_string(operation)) {
  int provided = 0;
  check_mpi(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), "MPI_T_init_thread");
  MPI_T_enum values = MPI_T_ENUM_NULL;
  const std::string name = "coll_tuned_" + operation_ + "_algorithm";
  algorithm_variable_ = find_variable(name, &values);
  segment_variable_ = find_variable(name + "_segmentsize");
  if (algorithm_variable_ != -1) names_ = names_in(values);
  if (!names_.empty() && segment_variable_ != -1) return;
  MPI_T_finalize();
  throw std::invalid_argument(
      "mpi-best and mpi:N: this MPI library does not let a program choose its algorithm for " + operation_ +
      " (Open MPI does for most operations); what would work: mpi");
}

StockAlgorithms::~StockAlgorithms() { MPI_T_finalize(); }

void StockAlgorithms::require(const StockAlgorithm& algorithm) const {
  if (names_.contains(algorithm.number)) return;
  std::string known;
  for (const auto& [number, name] : names_)
    known += (known.empty() ? "" : ", ") + std::to_string(number) + " " + name;
  throw std::invalid_argument("mpi:" + algorithm.text() + ": Open MPI has no " + operation_ + " algorithm " +
                              std::to_string(algorithm.number) + "; known: " + known);
}

void StockAlgorithms::set(const StockAlgorithm& algorithm) const {
  write_variable(algorithm_variable_, algorithm.number);
  write_variable(segment_variable_, static_cast<int>(algorithm.segment_bytes));
}

std::unique_ptr<comm::Communicator> StockAlgorithms::communicator(MPI_Comm comm, const comm::Options& options,
                                                                  const StockAlgorithm& algorithm) const {
  set(algorithm);
  auto made = std::make_unique<comm::Communicator>(comm, options);
  set({});
  return made;
}

StockAlgorithms::Best StockAlgorithms::find_best(MPI_Comm comm, const comm::Options& options,
                                                 const Timer& time_of) const {
  struct Tried {
    Best best;
    double time = 0;
  };
  const auto least_of = [&](comm::Communicator& on, int calls) -> std::optional<double> {
    std::optional<double> least;
    for (int i = 0; i < calls; ++i) {
      const std::optional<double> time = time_of(on);
      if (!time) return std::nullopt;
      least = std::min(least.value_or(*time), *time);
    }
    return least;
  };
  const auto is_faster = [](const Tried& a, const Tried& b) { return a.time < b.time; };
  std::vector<Tried> tried;
  for (const auto& [number, name] : names_) {
    for (const std::uint64_t segment_bytes : kSegmentBytes) {
      const StockAlgorithm algorithm{number, segment_bytes};
      Tried one{{algorithm, communicator(comm, options, algorithm)}};
      const auto time = least_of(*one.best.communicator, 2);
      if (!time) break;  // not for this number of ranks
      one.time = *time;
      tried.push_back(std::move(one));
    }
  }
  if (tried.empty())
    throw std::invalid_argument("mpi-best: no algorithm of stock MPI works for this " + operation_);
  const double limit = 2 * std::ranges::min_element(tried, is_faster)->time;
  for (Tried& one : tried) {
    if (one.time <= limit)
      one.time = std::min(one.time, least_of(*one.best.communicator, 4).value_or(one.time));
  }
  return std::move(std::ranges::min_element(tried, is_faster)->best);
}

}  // namespace papfft::app
