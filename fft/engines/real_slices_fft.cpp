// SPDX-License-Identifier: MIT
#include "fft/engines/real_slices_fft.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace papfft::fft {
namespace {

std::size_t checked_half(const SlicesPlan& plan, int ranks) {
  if (!can_split_real(plan.length, static_cast<std::size_t>(ranks)))
    throw std::invalid_argument("RealSlicesFft: twice the number of ranks must divide the length");
  if (plan.direction != Direction::forward)
    throw std::invalid_argument("RealSlicesFft: forward transforms alone");
  return plan.length / 2;
}

template <typename T>
std::variant<SteppedFft<T>, SteppedRealFft<T>> local_fft(bool is_root, const SliceLayout& layout,
                                                         const SlicesPlan& plan) {
  if (is_root) return SteppedRealFft<T>(layout.block_length, layout.ranks, plan.rigor, plan.local_kernel);
  return SteppedFft<T>(layout.block_length, layout.ranks, Direction::forward, plan.rigor, plan.local_kernel);
}

/// Of samples that have been read for a pass of the split.
constexpr std::size_t kReadBytes = std::size_t{1} << 18U;

}  // namespace

template <typename T>
RealSlicesFft<T>::RealSlicesFft(comm::Collectives& comm, const SlicesPlan& plan)
    : rank_(static_cast<std::size_t>(comm.rank())),
      layout_(checked_half(plan, comm.size()), static_cast<std::size_t>(comm.size())),
      slice_(layout_.slice(rank_)),
      split_(plan.length, layout_.ranks, slice_),
      local_(local_fft<T>(rank_ == 0, layout_, plan)),
      ordered_(layout_),
      exchange_(comm, plan.alltoall, plan.chunk_bytes),
      way_in_(exchange_.route_of(matrix_in())),
      way_out_(exchange_.route_of({2 * layout_.ranks, ordered_.width, 1})) {
  exchange_.reserve({&way_in_, &way_out_});
}

/// The same on all ranks: of columns that rank 0 can take.
template <typename T>
typename SteppedFft<T>::Matrix RealSlicesFft<T>::matrix_in() const {
  auto matrix = std::visit([](const auto& fft) { return fft.in(); }, local_);
  if (matrix.grain > 1) matrix.grain *= 2;
  return matrix;
}

template <typename T>
std::uint64_t RealSlicesFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  const std::uint64_t share = (length / 2 + ranks - 1) / ranks * sizeof(Complex);
  return Exchange::memory_bytes(share, ranks) + kReadBytes;
}

template <typename T>
LocalKernel RealSlicesFft<T>::kernel() const noexcept {
  const auto* other = std::get_if<SteppedFft<T>>(&local_);
  return other != nullptr ? other->kernel() : std::get_if<SteppedRealFft<T>>(&local_)->kernel();
}

template <typename T>
void RealSlicesFft<T>::run(const Load& load) {
  exchange_.run(
      way_in_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.split_s);
        exchange_.fill(way_in_, slice_, chunk, blocks,
                       [&](Columns some, std::span<Complex* const> to) { split_.run(load(some), to, some); });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.compute_s);
        exchange_.in_passes(chunk, way_in_.matrix, [&](Columns some) {
          std::visit([&](auto& fft) { fft.put(some, blocks + (some.begin - chunk.begin), chunk.count()); },
                     local_);
        });
      },
      times_.scatter_s);
  times_.bytes_scattered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template <typename T>
void RealSlicesFft<T>::execute(const Read& read) {
  std::vector<T> samples;
  std::vector<const T*> rows(2 * layout_.ranks);
  run([&](Columns columns) {
    samples.resize(rows.size() * columns.count());
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const std::span<T> row(samples.data() + j * columns.count(), columns.count());
      read(j * layout_.block_length + columns.begin, row);
      rows[j] = row.data();
      exchange_.worked_on(columns.count() / 2);
    }
    return std::span<const T* const>(rows);
  });
}

template <typename T>
void RealSlicesFft<T>::execute(const T* slice) {
  std::vector<const T*> rows(2 * layout_.ranks);
  run([&](Columns columns) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      rows[j] = slice + j * slice_.count() + (columns.begin - slice_.begin);
    }
    return std::span<const T* const>(rows);
  });
}

template <typename T>
std::span<std::complex<T>> RealSlicesFft<T>::block() {
  const Timer timer(times_.compute_s);
  return std::visit([](auto& fft) { return fft.result(); }, local_);
}

template <typename T>
std::size_t RealSlicesFft<T>::bin_count() const noexcept {
  return layout_.block_length + (rank_ == 0 ? 1 : 0);
}

template <typename T>
void RealSlicesFft<T>::get_every_other(std::size_t first, std::size_t count, Complex* to) {
  const std::span<const Complex> has = block();
  if (rank_ == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t h = first + 2 * i;
      to[i] = h == 0 ? Complex(has[0].real()) : h == has.size() ? Complex(has[0].imag()) : has[h];
    }
  } else if (first % 2 == 0) {
    std::copy_n(has.data() + first / 2, count, to);
  } else {
    const Complex* const last = has.data() + (has.size() - 1 - first / 2);
    for (std::size_t i = 0; i < count; ++i) to[i] = std::conj(*(last - i));
  }
}

template <typename T>
void RealSlicesFft<T>::get_bins(std::size_t first, std::span<Complex> bins) {
  std::vector<Complex> some((bins.size() + 1) / 2);
  for (const std::size_t odd : {0U, 1U}) {
    const std::size_t count = (bins.size() + 1 - odd) / 2;
    get_every_other(first + odd, count, some.data());
    for (std::size_t i = 0; i < count; ++i) bins[2 * i + odd] = some[i];
  }
}

template <typename T>
void RealSlicesFft<T>::put_in_order(const Write& write) {
  const std::size_t ranks = layout_.ranks;
  Buffer<Complex> some(2 * ranks * way_out_.chunks.front().count());
  (void)block();
  exchange_.run(
      way_out_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.compute_s);
        for (std::size_t run = 0; run < 2 * ranks; ++run) {
          const std::size_t count = ordered_.count(run / 2, run % 2, chunk);
          Complex* const to = blocks + run * chunk.count();
          if (count > 0) get_every_other(ordered_.first_number(run / 2, run % 2, chunk), count, to);
          std::fill_n(to + count, chunk.count() - count, Complex{});
          exchange_.worked_on(chunk.count());
        }
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.assemble_s);
        const Columns bins = ordered_.bins_of(rank_, chunk);
        if (bins.count() == 0) return;
        interleave<T>(ordered_.in_order(blocks, chunk.count()), chunk.count(), some.data());
        write(bins.begin, std::span<const Complex>(some.data(), bins.count()));
        exchange_.worked_on(bins.count());
      },
      times_.gather_s);
  if (rank_ == 0) {
    const Complex last = block()[0].imag();
    write(ranks * layout_.block_length, std::span(&last, 1));
  }
  times_.bytes_gathered += 2 * (ranks - 1) * ordered_.width * sizeof(Complex);
}

template class RealSlicesFft<float>;
template class RealSlicesFft<double>;

}  // namespace papfft::fft
