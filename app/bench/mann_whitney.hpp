// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>

namespace papfft::app {

/// Samples up to this size are compared by the exact distribution, unless they have ties.
inline constexpr std::size_t kMostExact = 25;

/// The one-sided rank-sum test of Mann and Whitney: how likely the values of `above` would exceed those of `below` as much as
/// they do, or more, if both samples came from one distribution. It asks for no shape of that distribution, so that a few calls
/// that something else delayed decide nothing.
///
/// Exact for samples of up to kMostExact values without ties. Otherwise by the normal approximation with the corrections for
/// ties and for continuity.
///
/// @return within [0, 1]; 1 where all values are equal. @throws std::invalid_argument  a sample has no values
/// @note Source  Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other",
///               Annals of Mathematical Statistics 18 (1947), 50-60
[[nodiscard]] double mann_whitney_p(std::span<const double> above, std::span<const double> below);

}  // namespace papfft::app
