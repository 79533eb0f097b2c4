// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "app/report/decimate.hpp"

namespace papfft::app::report {
namespace {

using testing::ElementsAre;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kNaNf = std::numeric_limits<float>::quiet_NaN();
constexpr float kInff = std::numeric_limits<float>::infinity();

TEST(PictureDecimate, EveryColumnKeepsItsFirstLastAndExtremes) {
  constexpr int kColumns = 300;
  std::mt19937 rng(5);
  std::normal_distribution<double> noise;
  std::vector<Point> points;
  for (int i = 0; i < 100000; ++i) points.push_back({i * kColumns / 100000.0, noise(rng)});
  const auto parts = decimate_line(points);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_LE(parts[0].size(), 4U * kColumns);

  const auto by_column = [](const std::vector<Point>& line) {
    std::map<int, std::vector<Point>> columns;
    for (const Point& p : line) columns[static_cast<int>(p.x)].push_back(p);
    return columns;
  };
  auto before = by_column(points);
  auto after = by_column(parts[0]);
  ASSERT_EQ(after.size(), before.size());
  const auto lower = [](const Point& a, const Point& b) { return a.y < b.y; };
  for (auto& [column, all] : before) {
    const auto& kept = after[column];
    EXPECT_EQ(kept.front(), all.front());
    EXPECT_EQ(kept.back(), all.back());
    EXPECT_EQ(std::min_element(kept.begin(), kept.end(), lower)->y,
              std::min_element(all.begin(), all.end(), lower)->y);
    EXPECT_EQ(std::max_element(kept.begin(), kept.end(), lower)->y,
              std::max_element(all.begin(), all.end(), lower)->y);
    EXPECT_TRUE(
        std::is_sorted(kept.begin(), kept.end(), [](const Point& a, const Point& b) { return a.x < b.x; }));
  }
}

TEST(PictureDecimate, FewPointsAndLinesThatTurnBackStayWhole) {
  const std::vector<Point> few = {{0, 1}, {10, 2}, {20, 0}};
  EXPECT_THAT(decimate_line(few), ElementsAre(few));
  std::vector<Point> back;
  for (int i = 0; i < 50; ++i) back.push_back({1 - 0.01 * i, 0.1 * i});
  EXPECT_THAT(decimate_line(back), ElementsAre(back));
  EXPECT_TRUE(decimate_line({}).empty());
}

TEST(PictureDecimate, NotANumberMakesAGapUnlessThePixelHasAValue) {
  const std::vector<Point> gap = {{0, 1}, {1, 2}, {2, kNaN}, {3, 3}, {kNaN, 4}, {5, 5}};
  EXPECT_THAT(decimate_line(gap), ElementsAre(std::vector<Point>{{0, 1}, {1, 2}}, std::vector<Point>{{3, 3}},
                                              std::vector<Point>{{5, 5}}));
  const std::vector<Point> hidden = {{0, 1}, {1.2, kNaN}, {1.5, 7}, {2, 1}};
  EXPECT_THAT(decimate_line(hidden), ElementsAre(std::vector<Point>{{0, 1}, {1.5, 7}, {2, 1}}));
}

TEST(PictureDecimate, CellsBehindPixels) {
  const auto behind = [](std::vector<double> edges, std::size_t cells) { return cells_behind(edges, cells); };
  using R = CellRange;
  EXPECT_THAT(behind({0, 1, 2, 3}, 3), ElementsAre(R{0, 1}, R{1, 2}, R{2, 3}));  // one to one
  EXPECT_THAT(behind({0, 2, 4}, 4), ElementsAre(R{0, 2}, R{2, 4}));              // two each
  EXPECT_THAT(behind({0, 1.5, 3}, 3), ElementsAre(R{0, 2}, R{1, 3}));            // all touched
  EXPECT_THAT(behind({0, 0.5, 1, 1.5, 2}, 2), ElementsAre(R{0, 1}, R{0, 1}, R{1, 2}, R{1, 2}));    // enlarged
  EXPECT_THAT(behind({0, 0.5, 1.2, 2.6, 6}, 6), ElementsAre(R{0, 1}, R{0, 1}, R{1, 3}, R{3, 6}));  // log axis
  EXPECT_THAT(behind({-2, 0, 2, 4}, 2), ElementsAre(R{0, 1}, R{0, 2}, R{1, 2}));                   // outside
}

TEST(PictureDecimate, PoolsAgreeWithTheDefinitionInBothMemoryOrders) {
  std::mt19937 rng(11);
  std::uniform_int_distribution<int> value(-50, 50);
  const std::size_t rows = 37;
  const std::size_t cols = 53;
  std::vector<float> data(rows * cols);
  for (float& v : data) v = static_cast<float>(value(rng));
  data[3] = kNaNf;
  data[60] = kInff;
  data[61] = -kInff;
  std::vector<double> row_edges;
  std::vector<double> col_edges;
  for (int i = 0; i <= 10; ++i) row_edges.push_back(3.7 * i);
  for (int i = 0; i <= 7; ++i) col_edges.push_back(53.0 / 7 * i);
  const MatrixView matrix(data, rows, cols);
  const auto row_cells = cells_behind(row_edges, rows);
  const auto col_cells = cells_behind(col_edges, cols);
  for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
    const auto pixels = pool(matrix, row_cells, col_cells, pooling);
    const auto turned = pool(matrix.transposed(), col_cells, row_cells, pooling);
    ASSERT_EQ(pixels.size(), 70U);
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t j = 0; j < 7; ++j) {
        double best = -1e9;
        double sum = 0;
        int count = 0;
        for (std::size_t r = row_cells[i].begin; r < row_cells[i].end; ++r) {
          for (std::size_t c = col_cells[j].begin; c < col_cells[j].end; ++c) {
            const float v = data[r * cols + c];
            if (!std::isfinite(v)) continue;
            best = std::max<double>(best, v);
            sum += v;
            ++count;
          }
        }
        const double expected = pooling == Pooling::max ? best : sum / count;
        EXPECT_NEAR(pixels[i * 7 + j], expected, 1e-5) << i << ' ' << j;
        EXPECT_EQ(pixels[i * 7 + j], turned[j * 10 + i]);
      }
    }
  }
}

TEST(PictureDecimate, APixelWithoutFiniteCellsIsNotANumber) {
  const std::vector<float> data = {kNaNf, kInff, -kInff, 4};
  const std::vector<CellRange> row = {{0, 1}};
  const std::vector<CellRange> cols = {{0, 3}, {2, 4}};
  for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
    const auto pixels = pool(MatrixView(data, 1, 4), row, cols, pooling);
    EXPECT_TRUE(std::isnan(pixels[0]));
    EXPECT_EQ(pixels[1], 4);
  }
}

TEST(PictureDecimate, AMatrixMustHaveRowsTimesColumnsValues) {
  const std::vector<float> six(6);
  EXPECT_NO_THROW(MatrixView(six, 2, 3));
  EXPECT_NO_THROW(MatrixView({}, 5, 0));
  EXPECT_THROW(MatrixView(six, 2, 4), std::invalid_argument);
  EXPECT_THROW(MatrixView(six, 5, 0), std::invalid_argument);
  EXPECT_THROW(MatrixView(six, std::numeric_limits<std::size_t>::max() / 3 + 3, 3), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::app::report
