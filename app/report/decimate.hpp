// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "app/report/canvas.hpp"

namespace papfft::app::report {

/// Cuts a line into its unbroken parts and leaves out points that cannot be seen: where several fall into one pixel
/// column, the first, lowest, highest and last of them stay, in their order. The drawn line then covers the same
/// pixels, peaks included, with at most four points per column.
///
/// @param points  pixels. A point with NaN or infinity is a gap, unless its column also has finite points. Points are
///                left out only while x does not decrease; a line that turns back keeps all its points there.
/// @return        parts of at least one point each, all finite.
/// @note Source   Jugel et al., M4: A Visualization-Oriented Time Series Data Aggregation, PVLDB 7(10), 2014.
[[nodiscard]] std::vector<std::vector<Point>> decimate_line(std::span<const Point> points);

/// A view of rows × cols floats anywhere in memory.
struct MatrixView {
  const float* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t row_stride = 0;  ///< elements between (r, c) and (r + 1, c)
  std::size_t col_stride = 0;  ///< elements between (r, c) and (r, c + 1)

  MatrixView() = default;
  /// Row-major and contiguous. Throws std::invalid_argument unless values.size() == rows * cols.
  MatrixView(std::span<const float> values, std::size_t rows, std::size_t cols);
  [[nodiscard]] MatrixView transposed() const;
};

/// What a pixel shows that covers several cells.
enum class Pooling {
  max,  ///< the largest: a narrow line or a short click never vanishes (the default for levels)
  mean  ///< the arithmetic mean of the values as given: right for densities, hides narrow peaks
};

/// Half-open range of cells behind one pixel.
struct CellRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const CellRange&, const CellRange&) = default;
};

/// The cells behind each pixel of a row or column of pixels.
///
/// A pixel narrower than a cell gets the cell at its centre. Wider ones get, if all are equally wide, every cell they
/// touch, so that all pool about equally many (else noise would show stripes); if not (log axes), the cells whose
/// centres they contain, so that pooling sets in gradually (else noise would show a step).
///
/// @param edges  pixel edges in cell coordinates (cell i is [i, i + 1)), ascending; n + 1 > 1 of them for n pixels.
/// @param cells  number of cells, > 0.
/// @return       n ranges, none empty; outside 0..cells: the nearest cell.
[[nodiscard]] std::vector<CellRange> cells_behind(std::span<const double> edges, std::size_t cells);

/// One value per pixel.
///
/// @param row_cells, col_cells  cells behind each pixel row and column, inside the matrix, begins and ends ascending.
/// @return  row_cells.size() × col_cells.size() values, row-major; NaN where no cell has a finite value (others are
///          left out of the pooling).
/// @note Cost  one pass over the matrix in memory order; vectorises.
[[nodiscard]] std::vector<float> pool(const MatrixView& matrix, std::span<const CellRange> row_cells,
                                      std::span<const CellRange> col_cells, Pooling pooling);

}  // namespace papfft::app::report
