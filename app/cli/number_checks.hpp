// SPDX-License-Identifier: MIT
// Checks of options' values that CLI11's own do badly: no bound of a range holds for "nan", so CLI::Range lets it pass, and
// CLI::PositiveNumber says which numbers there are in 300 digits.
#pragma once
#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace papfft::app {

/// @param holds  what must be true of the value; @param what  it is then
template <typename Holds>
CLI::Validator number_that(Holds holds, const char* what) {
  return {[holds, what](std::string& text) {
            double value = 0;
            const bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && holds(value);
            return fits ? std::string() : "'" + text + "' is no " + what;
          },
          ""};
}

inline CLI::Validator finite_number() {
  return number_that([](double) { return true; }, "finite number");
}
inline CLI::Validator positive_number() {
  return number_that([](double value) { return value > 0; }, "positive number");
}
/// 0, 1, 2, ... as ranks are.
inline CLI::Validator count_from_0() {
  return number_that([](double value) { return value >= 0 && value == std::floor(value); },
                     "number such as 0, 1, 2");
}

}  // namespace papfft::app
