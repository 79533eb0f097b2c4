// SPDX-License-Identifier: MIT
#include "app/bench/mann_whitney.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace papfft::app {

namespace {

struct Ranks {
  double u = 0;           ///< pairs in which the value of `above` is the greater one; a tie counts half
  double tied_cubes = 0;  ///< the sum of t^3 - t over the groups of t equal values
};

Ranks rank(std::span<const double> above, std::span<const double> below) {
  std::vector<double> all(above.begin(), above.end());
  all.insert(all.end(), below.begin(), below.end());
  std::ranges::sort(all);
  Ranks ranks;
  for (auto at = all.begin(); at != all.end();) {
    const auto [first, last] = std::equal_range(at, all.end(), *at);
    const auto ties = static_cast<double>(last - first);
    ranks.tied_cubes += ties * ties * ties - ties;
    at = last;
  }
  std::vector<double> sorted(below.begin(), below.end());
  std::ranges::sort(sorted);
  for (const double value : above) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.u += static_cast<double>(first - sorted.begin()) + static_cast<double>(last - first) / 2;
  }
  return ranks;
}

/// In how many of the orders of n and m values without ties U has each value: the coefficients of the Gaussian binomial,
/// prod (1 - q^(m + i)) / (1 - q^i) for i = 1 .. n. Whole numbers, which a double holds up to kMostExact.
std::vector<double> orders_by_u(std::size_t n, std::size_t m) {
  std::vector<double> orders(n * m + 1);
  orders[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t u = n * m; u >= m + i; --u) orders[u] -= orders[u - m - i];
    for (std::size_t u = i; u <= n * m; ++u) orders[u] += orders[u - i];
  }
  return orders;
}

double exact_p(double u, std::size_t n, std::size_t m) {
  const std::vector<double> orders = orders_by_u(n, m);
  const auto first = orders.begin() + static_cast<std::ptrdiff_t>(u);
  return std::accumulate(first, orders.end(), 0.0) / std::accumulate(orders.begin(), orders.end(), 0.0);
}

double normal_p(const Ranks& ranks, std::size_t n, std::size_t m) {
  const auto pairs = static_cast<double>(n) * static_cast<double>(m);
  const auto all = static_cast<double>(n + m);
  const double variance = pairs / 12 * (all + 1 - ranks.tied_cubes / (all * (all - 1)));
  if (variance <= 0) return 1;  // all values are equal
  const double z = (ranks.u - pairs / 2 - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

}  // namespace

double mann_whitney_p(std::span<const double> above, std::span<const double> below) {
  if (above.empty() || below.empty()) throw std::invalid_argument("rank-sum test of no values");
  const Ranks ranks = rank(above, below);
  const bool is_exact = ranks.tied_cubes == 0 && std::max(above.size(), below.size()) <= kMostExact;
  return is_exact ? exact_p(ranks.u, above.size(), below.size())
                  : normal_p(ranks, above.size(), below.size());
}

}  // namespace papfft::app
