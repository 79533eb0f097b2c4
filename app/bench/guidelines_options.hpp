// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/bench/collective_options.hpp"
#include "app/bench/collective_settings.hpp"
#include "app/bench/guideline_verdict.hpp"
#include "papfft/operation.hpp"

namespace papfft::app {

/// The words of `papfft bench guidelines`. What they mean: GuidelinesSettings.
struct GuidelinesOptions {
  GuidelinesOptions();

  CollectiveOptions call;  ///< all of it but the operation and the algorithms
  std::vector<std::string> operations;
  std::vector<std::string> guidelines = {"stock", "best", "mockups", "monotone"};
  std::string tolerance = "3%";
  std::string fail_over;
  double budget_s = 0;

  void declare(cli::Command& command);
};

/// "3%" -> 0.03. @throws UsageError  naming the option
[[nodiscard]] double parse_percent(const std::string& option, const std::string& text);

/// A contender of a cell and what it is there for.
struct GuidelinePeer {
  Guideline guideline = Guideline::stock;
  Contender contender;
};

/// The words of the command line, with a meaning.
struct GuidelinesSettings {
  /// @throws std::invalid_argument, UsageError
  explicit GuidelinesSettings(const GuidelinesOptions& options);

  [[nodiscard]] bool checks(Guideline guideline) const;
  /// Whom `auto` is compared with, call by call. @param has_best  the MPI library lets a program choose its algorithm
  [[nodiscard]] std::vector<GuidelinePeer> peers(comm::Operation operation, bool has_best) const;

  std::vector<comm::Operation> operations;
  std::vector<Guideline> guidelines;
  std::vector<std::uint64_t> bytes;  ///< ascending, each once
  double tolerance = 0;
  std::optional<double> fail_over;
};

}  // namespace papfft::app
