// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "comm/choose/machine_profile.hpp"
#include "papfft/operation.hpp"

namespace papfft::comm {

/// What must be alike for one group's measurements to hold for another.
struct GroupProfile {
  std::string library;  ///< the MPI library's name and version, one line
  int ranks = 1;
  int hosts = 1;
  bool is_crowded = false;  ///< on some host more ranks than cores

  /// "32 ranks on 8 hosts, more than cores, with Open MPI v4.1.4"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const GroupProfile&, const GroupProfile&) = default;
};

/// How fast calls were on a machine, measured there: for some operations and sizes the ways to carry out a call, the fastest first. It
/// is a text that people can read and edit:
///
///     papfft-decisions 1
///     library Open MPI v4.1.4
///     ranks 32
///     hosts 8
///     crowded yes
///     # operation, bytes of a block or of the vector, ways with their microseconds
///     bcast 65536 mpi:2/64K=512.3 mpi=800.1 circulant@hosts=900.2
///
/// A way is what a user may name as an algorithm (select.hpp). A time may be left out. Lines about the machine may stand among these
/// (machine_profile.hpp).
class DecisionTable {
 public:
  struct Way {
    std::string name;
    double us = 0;  ///< 0: not said
    friend bool operator==(const Way&, const Way&) = default;
  };
  struct Row {
    Operation operation = Operation::scatter;
    std::size_t bytes = 0;
    std::vector<Way> ways = {};
    friend bool operator==(const Row&, const Row&) = default;
  };

  DecisionTable() = default;
  explicit DecisionTable(GroupProfile group) : group_(std::move(group)) {}
  /// @throws std::invalid_argument  "line 7: ...", for a version, a line or a name that is not known
  [[nodiscard]] static DecisionTable parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const GroupProfile& group() const { return group_; }
  [[nodiscard]] const MachineProfile& machine() const { return machine_; }
  void set_machine(const MachineProfile& machine) { machine_ = machine; }
  /// The order of the ways is that of their worst slow-downs where ranks come late, not of their times where all come together: the line
  /// "arrivals unknown".
  [[nodiscard]] bool is_for_unknown_arrivals() const { return is_for_unknown_arrivals_; }
  void set_for_unknown_arrivals() { is_for_unknown_arrivals_ = true; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// Takes the place of what the table said of this operation and size. Sorts the ways.
  void set(Row row);
  /// The ways for a call, the fastest first: those of the measured size that is nearest by ratio, if it is within a factor of kReach.
  /// Else none. Between two measured sizes that are at most kReach^2 apart, ways that were timed at both come first, by their times on the
  /// line between the two in logarithms; but only if the nearest size's fastest is among them, as else nothing is known of that one here. Then
  /// the MPI library's default comes first, if it is the fastest of the other size.
  [[nodiscard]] std::vector<Way> ways(Operation operation, std::size_t bytes) const;

  static constexpr double kReach = 4;
  static constexpr double kLeastUs = 0.1;  ///< a table tells tenths of microseconds,
  static constexpr double kMostUs = 1e12;  ///< and no more than 11 days

 private:
  GroupProfile group_;
  MachineProfile machine_;
  bool is_for_unknown_arrivals_ = false;
  std::vector<Row> rows_;  // by operation and size
};

}  // namespace papfft::comm
