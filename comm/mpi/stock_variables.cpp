// SPDX-License-Identifier: MIT
#include "comm/mpi/stock_variables.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::comm {

namespace {

#ifdef OPEN_MPI
constexpr bool kIsOpenMpi = true;
#else
constexpr bool kIsOpenMpi = false;
#endif

constexpr const char* kListens = "OMPI_MCA_coll_tuned_use_dynamic_rules";

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

void StockVariables::enable() { setenv(kListens, "1", 0); }

bool StockVariables::are_enabled() {
  const char* value = std::getenv(kListens);
  return kIsOpenMpi && value != nullptr && std::string_view(value) == "1";
}

StockVariables::StockVariables(Operation operation) : operation_(to_string(operation)) {
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

StockVariables::~StockVariables() { MPI_T_finalize(); }

void StockVariables::require(const StockAlgorithm& algorithm) const {
  if (names_.contains(algorithm.number)) return;
  std::string known;
  for (const auto& [number, name] : names_)
    known += (known.empty() ? "" : ", ") + std::to_string(number) + " " + name;
  throw std::invalid_argument("mpi:" + algorithm.text() + ": Open MPI has no " + operation_ + " algorithm " +
                              std::to_string(algorithm.number) + "; known: " + known);
}

void StockVariables::set(const StockAlgorithm& algorithm) const {
  write_variable(algorithm_variable_, algorithm.number);
  write_variable(segment_variable_, static_cast<int>(algorithm.segment_bytes));
}

}  // namespace papfft::comm
