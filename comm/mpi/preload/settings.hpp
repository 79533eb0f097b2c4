// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "papfft/operation.hpp"

namespace papfft::comm::preload {

enum class Mode : std::uint8_t {
  off,      ///< every call goes to the MPI library
  observe,  ///< the same, and the calls are timed and counted
  on        ///< calls that are surely ours go through the layer
};

/// Whether calls may begin before their callers come, which takes a thread of ours.
enum class Thread : std::uint8_t {
  program,   ///< where the program has asked for MPI_THREAD_MULTIPLE
  multiple,  ///< MPI_Init asks for that, whatever the program asks for
  none
};

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kModeNames = {"off", "observe", "on"};
inline constexpr std::array<std::string_view, 3> kThreadNames = {"program", "multiple", "none"};

/// What the environment says about the library that is loaded by LD_PRELOAD.
struct Settings {
  Mode mode = Mode::on;
  /// Shorter calls pass: of one block, or of the vector.
  std::size_t least_bytes = 65536;
  /// Operations that are taken. The others pass. A rank of a gatherv, scatterv or alltoallv does not know the sizes that others see,
  /// so their length cannot decide: they are taken at any size, or not at all.
  std::array<bool, kOperationCount> operations{};
  /// Of the program's that have one of ours at a time.
  static constexpr int kMostCommunicators = 64;
  /// The same, if the user has said so. Else a program with threads gets one for MPI_COMM_WORLD alone.
  std::optional<int> most_communicators = {};
  Thread thread = Thread::program;
  bool takes_started = false;    ///< calls that are only started (MPI_Ibcast) are taken, too
  bool is_reproducible = false;  ///< sums are added up in an order that depends on the number of ranks alone
  std::string report = {};       ///< where the summary goes: "" nowhere, "-" the standard error, or a file
  std::string recording = {};    ///< a file for the arrivals of the calls on MPI_COMM_WORLD; "": none

  Settings();

  /// @param variable  what the environment has under a name, or nullptr
  /// @throws std::invalid_argument  naming the variable and what would work
  [[nodiscard]] static Settings parse(const std::function<const char*(const char*)>& variable);

  [[nodiscard]] bool takes(Operation operation) const {
    return operations.at(static_cast<std::size_t>(operation));
  }
  /// A call of fewer bytes passes in any case.
  [[nodiscard]] std::size_t least_bytes_of(Operation operation) const;
  /// The name of the algorithm: "auto", unless sums must be reproducible. Then one whose order of adding depends on nothing but the
  /// ranks' number, and on the root.
  [[nodiscard]] std::string_view algorithm_of(Operation operation) const;
  /// The same on two ranks whose settings agree where the ranks must.
  [[nodiscard]] std::uint64_t hash() const;
};

}  // namespace papfft::comm::preload
