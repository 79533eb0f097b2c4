// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "fft/engines/slices_fft.hpp"
#include "fft/split/dif.hpp"

namespace papfft::fft {

/// The N/2+1 bins of a real vector, shared by P ranks in natural order, and where they are in RealSplit's blocks of M = N/2P.
///
/// Number h < M of rank s's bins is X[P h + s], if h is even or s is 0; else X[P h + P - s]. Rank d's part in natural order is of 2W numbers
/// of all ranks from 2 d W on: two runs of W per rank, of the even numbers and of the odd ones. Element j of all 2P runs is X[2P (d W + j) ..].
struct HalfSpectrumLayout {
  std::size_t ranks = 1;         ///< P
  std::size_t block_length = 0;  ///< M
  std::size_t width = 0;         ///< W

  explicit HalfSpectrumLayout(const SliceLayout& blocks)
      : ranks(blocks.ranks),
        block_length(blocks.block_length),
        width((block_length + 2 * ranks - 1) / (2 * ranks)) {}

  /// The bins that a rank has. Rank 0 has X[N/2] as well, which is nobody's.
  [[nodiscard]] Columns part(std::size_t rank) const noexcept {
    const std::size_t end = ranks * block_length;
    return {std::min(2 * ranks * width * rank, end), std::min(2 * ranks * width * (rank + 1), end)};
  }

  /// As many bins as these elements of its runs are, from the first of them on.
  [[nodiscard]] Columns bins_of(std::size_t rank, Columns elements) const noexcept {
    const Columns all = part(rank);
    return {std::min(all.begin + 2 * ranks * elements.begin, all.end),
            std::min(all.begin + 2 * ranks * elements.end, all.end)};
  }

  /// Of elements of rank d's run, those that are there: the numbers 2 (d W + elements.begin) + odd, and so on, below M.
  [[nodiscard]] std::size_t count(std::size_t rank, std::size_t odd, Columns elements) const noexcept {
    const std::size_t first = first_number(rank, odd, elements);
    return first < block_length ? std::min(elements.count(), (block_length - first + 1) / 2) : 0;
  }
  [[nodiscard]] std::size_t first_number(std::size_t rank, std::size_t odd, Columns elements) const noexcept {
    return 2 * (rank * width + elements.begin) + odd;
  }

  /// The runs in the order in which their elements interleave to bins. @param runs  Shape: P x 2 x pitch
  template <typename Element>
  [[nodiscard]] std::vector<Element*> in_order(Element* runs, std::size_t pitch) const {
    std::vector<Element*> ordered(2 * ranks);
    for (std::size_t s = 0; s < ranks; ++s) {
      ordered[s] = runs + 2 * s * pitch;
      ordered[ranks + s] = runs + (2 * ((ranks - s) % ranks) + 1) * pitch;
    }
    return ordered;
  }
};

}  // namespace papfft::fft
