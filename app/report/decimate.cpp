// SPDX-License-Identifier: MIT
#include "app/report/decimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace papfft::app::report {
namespace {

bool is_finite(const Point& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

/// Finite points of one pixel column, in their order, to at most four.
void append_column(std::span<const Point> column, std::vector<Point>& line) {
  if (column.size() <= 4) {
    line.insert(line.end(), column.begin(), column.end());
    return;
  }
  const auto lower = [](const Point& a, const Point& b) { return a.y < b.y; };
  const auto [lowest, highest] = std::minmax_element(column.begin(), column.end(), lower);
  std::array<std::ptrdiff_t, 4> kept = {0, lowest - column.begin(), highest - column.begin(),
                                        std::ssize(column) - 1};
  std::sort(kept.begin(), kept.end());
  const auto end = std::unique(kept.begin(), kept.end());
  for (auto i = kept.begin(); i != end; ++i) line.push_back(column[static_cast<std::size_t>(*i)]);
}

/// What one target pixel row pools: `line[i]` over the matrix rows `rows`, for every matrix column.
struct MaxPool {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  static void add(float value, float& best, float&) {
    // False for NaN; -inf never exceeds the start.
    best = value > best && value < std::numeric_limits<float>::infinity() ? value : best;
  }
  static void merge(float value, float, float& best, float&) { best = std::max(best, value); }
  static float result(float best, float) {
    return best > kStart ? best : std::numeric_limits<float>::quiet_NaN();
  }
};

struct MeanPool {
  static constexpr float kStart = 0;
  static void add(float value, float& sum, float& count) {
    const bool finite = std::abs(value) < std::numeric_limits<float>::infinity();
    sum += finite ? value : 0.0F;
    count += finite ? 1.0F : 0.0F;
  }
  static void merge(float value, float many, float& sum, float& count) {
    sum += value;
    count += many;
  }
  static float result(float sum, float count) { return sum / count; }  // 0 / 0: NaN, as wanted
};

// The matrix's rows are (nearly) contiguous; out(i, j) takes pixel row i, column j.
template <typename Pool, typename Out>
void pool_rows(const MatrixView& m, std::span<const CellRange> row_cells,
               std::span<const CellRange> col_cells, const Out& out) {
  std::vector<float> line(m.cols);
  std::vector<float> count(m.cols);
  for (std::size_t i = 0; i < row_cells.size(); ++i) {
    std::fill(line.begin(), line.end(), Pool::kStart);
    std::fill(count.begin(), count.end(), 0.0F);
    for (std::size_t r = row_cells[i].begin; r < row_cells[i].end; ++r) {
      const float* const row = m.data + r * m.row_stride;
      if (m.col_stride == 1) {  // written out: the compiler vectorises only this
        for (std::size_t c = 0; c < m.cols; ++c) Pool::add(row[c], line[c], count[c]);
      } else {
        for (std::size_t c = 0; c < m.cols; ++c) Pool::add(row[c * m.col_stride], line[c], count[c]);
      }
    }
    for (std::size_t j = 0; j < col_cells.size(); ++j) {
      float value = Pool::kStart;
      float many = 0;
      for (std::size_t c = col_cells[j].begin; c < col_cells[j].end; ++c) {
        Pool::merge(line[c], count[c], value, many);
      }
      out(i, j) = Pool::result(value, many);
    }
  }
}

template <typename Pool>
std::vector<float> pool_with(const MatrixView& m, std::span<const CellRange> row_cells,
                             std::span<const CellRange> col_cells) {
  std::vector<float> pixels(row_cells.size() * col_cells.size());
  if (m.col_stride <= m.row_stride) {
    const auto out = [&](std::size_t i, std::size_t j) -> float& { return pixels[i * col_cells.size() + j]; };
    pool_rows<Pool>(m, row_cells, col_cells, out);
  } else {
    const auto out = [&](std::size_t i, std::size_t j) -> float& { return pixels[j * col_cells.size() + i]; };
    pool_rows<Pool>(m.transposed(), col_cells, row_cells, out);
  }
  return pixels;
}

}  // namespace

std::vector<std::vector<Point>> decimate_line(std::span<const Point> points) {
  std::vector<std::vector<Point>> parts;
  std::vector<Point> column;
  bool open = false;  // the last part may be continued
  for (std::size_t i = 0; i < points.size();) {
    column.clear();
    if (!std::isfinite(points[i].x)) {
      open = false;
      ++i;
      continue;
    }
    const double pixel = std::floor(points[i].x);
    double previous_x = points[i].x;
    for (; i < points.size() && points[i].x >= previous_x && points[i].x < pixel + 1; ++i) {
      previous_x = points[i].x;
      if (is_finite(points[i])) column.push_back(points[i]);
    }
    if (column.empty()) {
      open = false;
      continue;
    }
    if (!open) parts.emplace_back();
    append_column(column, parts.back());
    open = true;
  }
  return parts;
}

MatrixView::MatrixView(std::span<const float> values, std::size_t rows_, std::size_t cols_)
    : data(values.data()), rows(rows_), cols(cols_), row_stride(cols_), col_stride(1) {
  if (cols_ == 0 ? !values.empty() : values.size() / cols_ != rows_ || values.size() % cols_ != 0) {
    throw std::invalid_argument("matrix: the number of values is not rows * cols");
  }
}

MatrixView MatrixView::transposed() const {
  MatrixView t = *this;
  std::swap(t.rows, t.cols);
  std::swap(t.row_stride, t.col_stride);
  return t;
}

std::vector<CellRange> cells_behind(std::span<const double> edges, std::size_t cells) {
  std::vector<CellRange> ranges;
  const std::size_t pixels = edges.size() - 1;
  const auto width = [&](std::size_t i) { return edges[i + 1] - edges[i]; };
  constexpr double kRounding = 1e-6;  // edges that fall on a cell's edge up to rounding touch it no more
  const bool uniform = std::abs(width(pixels - 1) / width(0) - 1) < kRounding;
  const auto clamped = [cells](double cell) {
    return static_cast<std::size_t>(std::clamp(cell, 0.0, static_cast<double>(cells - 1)));
  };
  for (std::size_t i = 0; i < pixels; ++i) {
    double first = std::floor((edges[i] + edges[i + 1]) / 2);
    double last = first;
    if (width(i) >= 1 - kRounding) {
      // The last cell touched, or the last whose centre lies below the pixel's upper edge.
      first = uniform ? std::floor(edges[i] + kRounding) : std::ceil(edges[i] - 0.5);
      last = std::ceil(uniform ? edges[i + 1] - kRounding : edges[i + 1] - 0.5) - 1;
    }
    const std::size_t begin = clamped(first);
    ranges.push_back({begin, std::max(begin, clamped(last)) + 1});
  }
  return ranges;
}

std::vector<float> pool(const MatrixView& matrix, std::span<const CellRange> row_cells,
                        std::span<const CellRange> col_cells, Pooling pooling) {
  return pooling == Pooling::max ? pool_with<MaxPool>(matrix, row_cells, col_cells)
                                 : pool_with<MeanPool>(matrix, row_cells, col_cells);
}

}  // namespace papfft::app::report
