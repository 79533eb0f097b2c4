// SPDX-License-Identifier: MIT
#include "fft/engines/real_slices_fft.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace papfft::fft {
namespace {

std::size_t checked_half(std::size_t length, std::size_t ranks) {
  if (!can_split_real(length, ranks))
    throw std::invalid_argument("RealSlicesFft: twice the number of ranks must divide the length");
  return length / 2;
}

void require_direction(bool fits) {
  if (!fits) throw std::logic_error("RealSlicesFft: the plan is of the other direction");
}

template <typename T>
std::variant<SteppedFft<T>, SteppedRealFft<T>> local_fft(bool is_root, const SliceLayout& layout,
                                                         const SlicesPlan& plan) {
  if (is_root) {
    return SteppedRealFft<T>(layout.block_length, layout.ranks, plan.direction, plan.rigor,
                             plan.local_kernel);
  }
  return SteppedFft<T>(layout.block_length, layout.ranks, plan.direction, plan.rigor, plan.local_kernel);
}

/// Of samples that have been read for a pass of the split, or are made by one of the merge.
constexpr std::size_t kSamplesBytes = std::size_t{1} << 18U;

}  // namespace

template <typename T>
RealSlicesFft<T>::RealSlicesFft(comm::Collectives& comm, const SlicesPlan& plan)
    : rank_(static_cast<std::size_t>(comm.rank())),
      layout_(checked_half(plan.length, static_cast<std::size_t>(comm.size())),
              static_cast<std::size_t>(comm.size())),
      slice_(layout_.slice(rank_)),
      ordered_(layout_),
      local_(local_fft<T>(rank_ == 0, layout_, plan)),
      exchange_(comm, plan.alltoall, plan.chunk_bytes),
      of_samples_(exchange_.route_of(sample_matrix(plan.direction))),
      of_bins_(exchange_.route_of({2 * layout_.ranks, ordered_.width, 1})) {
  if (plan.direction == Direction::forward) {
    split_.emplace(plan.length, layout_.ranks, slice_);
  } else {
    merge_.emplace(plan.length, layout_.ranks, slice_);
  }
  exchange_.reserve({&of_samples_, &of_bins_});
}

/// The same on all ranks: of columns that rank 0 can take and give.
template <typename T>
typename ChunkedExchange<T>::Matrix RealSlicesFft<T>::sample_matrix(Direction direction) const {
  const bool forward = direction == Direction::forward;
  auto matrix = std::visit([&](const auto& fft) { return forward ? fft.in() : fft.out(); }, local_);
  if (matrix.grain > 1) matrix.grain *= 2;
  return matrix;
}

template <typename T>
std::uint64_t RealSlicesFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  const std::uint64_t share = (length / 2 + ranks - 1) / ranks * sizeof(Complex);
  return Exchange::memory_bytes(share, ranks) + kSamplesBytes;
}

template <typename T>
LocalKernel RealSlicesFft<T>::kernel() const {
  return std::visit([](const auto& fft) { return fft.kernel(); }, local_);
}

template <typename T>
void RealSlicesFft<T>::run(const Load& load) {
  require_direction(split_.has_value());
  exchange_.run(
      of_samples_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.split_s);
        exchange_.fill(of_samples_, slice_, chunk, blocks, [&](Columns some, std::span<Complex* const> to) {
          split_->run(load(some), to, some);
        });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.compute_s);
        exchange_.in_passes(chunk, of_samples_.matrix, [&](Columns some) {
          std::visit([&](auto& fft) { fft.put(some, blocks + (some.begin - chunk.begin), chunk.count()); },
                     local_);
        });
      },
      times_.scatter_s);
  times_.bytes_scattered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template <typename T>
void RealSlicesFft<T>::execute(const ReadSamples& read) {
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
  require_direction(split_.has_value());
  const Timer timer(times_.compute_s);
  return std::visit([](auto& fft) { return fft.result(); }, local_);
}

template <typename T>
std::size_t RealSlicesFft<T>::bin_count() const noexcept {
  return layout_.block_length + (rank_ == 0 ? 1 : 0);
}

template <typename T>
template <typename Work>
void RealSlicesFft<T>::for_every_other(std::size_t first, std::size_t count, const Work& work) const {
  if (rank_ == 0) {
    for (std::size_t i = 0; i < count; ++i) work(i, first + 2 * i, false);
  } else if (first % 2 == 0) {
    for (std::size_t i = 0; i < count; ++i) work(i, first / 2 + i, false);
  } else {
    const std::size_t last = layout_.block_length - 1 - first / 2;
    for (std::size_t i = 0; i < count; ++i) work(i, last - i, true);
  }
}

template <typename T>
void RealSlicesFft<T>::get_every_other(std::size_t first, std::size_t count, Complex* to) {
  const std::span<const Complex> has = block();
  for_every_other(first, count, [&](std::size_t i, std::size_t q, bool is_mirrored) {
    to[i] = is_mirrored ? std::conj(has[q]) : has[q];
  });
  if (rank_ == 0 && first == 0 && count > 0) to[0] = has[0].real();  // has X[N/2] beside it
}

template <typename T>
void RealSlicesFft<T>::get_bins(std::size_t first, std::span<Complex> bins) {
  if (first + bins.size() > layout_.block_length) {
    bins.back() = block()[0].imag();
    bins = bins.first(bins.size() - 1);
  }
  std::vector<Complex> some((bins.size() + 1) / 2);
  for (const std::size_t odd : {0U, 1U}) {
    const std::size_t count = (bins.size() + 1 - odd) / 2;
    get_every_other(first + odd, count, some.data());
    for (std::size_t i = 0; i < count; ++i) bins[2 * i + odd] = some[i];
  }
}

template <typename T>
void RealSlicesFft<T>::put_in_order(const WriteBins& write) {
  const std::size_t ranks = layout_.ranks;
  Buffer<Complex> some(2 * ranks * of_bins_.chunks.front().count());
  (void)block();
  exchange_.run(
      of_bins_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.compute_s);
        for (std::size_t run = 0; run < 2 * ranks; ++run) {
          const std::size_t count = ordered_.count(run / 2, run % 2, chunk);
          Complex* const to = blocks + run * chunk.count();
          get_every_other(ordered_.first_number(run / 2, run % 2, chunk), count, to);
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

template <typename T>
void RealSlicesFft<T>::execute(const ReadBins& read) {
  require_direction(merge_.has_value());
  const std::size_t ranks = layout_.ranks;
  const std::span<Complex> has = std::visit([](auto& fft) { return fft.vector(); }, local_);
  Buffer<Complex> some(2 * ranks * of_bins_.chunks.front().count());
  exchange_.run(
      of_bins_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.split_s);
        const Columns bins = ordered_.bins_of(rank_, chunk);
        if (bins.count() > 0) read(bins.begin, std::span(some.data(), bins.count()));
        std::fill(some.data() + bins.count(), some.data() + 2 * ranks * chunk.count(), Complex{});
        deinterleave<T>(some.data(), ordered_.in_order(blocks, chunk.count()), chunk.count());
        exchange_.worked_on(2 * ranks * chunk.count());
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.compute_s);
        for (std::size_t run = 0; run < 2 * ranks; ++run) {
          const Complex* const from = blocks + run * chunk.count();
          const std::size_t count = ordered_.count(run / 2, run % 2, chunk);
          for_every_other(ordered_.first_number(run / 2, run % 2, chunk), count,
                          [&](std::size_t i, std::size_t q, bool is_mirrored) {
                            has[q] = is_mirrored ? std::conj(from[i]) : from[i];
                          });
          exchange_.worked_on(count);
        }
      },
      times_.scatter_s);
  if (rank_ == 0) {
    Complex last;
    read(ranks * layout_.block_length, std::span(&last, 1));
    has[0] = {has[0].real(), last.real()};
  }
  times_.bytes_scattered += 2 * (ranks - 1) * ordered_.width * sizeof(Complex);
}

template <typename T>
void RealSlicesFft<T>::put_in_order(const WriteSamples& write) {
  require_direction(merge_.has_value());
  std::vector<T> samples;
  std::vector<T*> rows(2 * layout_.ranks);
  exchange_.run(
      of_samples_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.compute_s);
        exchange_.in_passes(chunk, of_samples_.matrix, [&](Columns some) {
          std::visit([&](auto& fft) { fft.get(some, blocks + (some.begin - chunk.begin), chunk.count()); },
                     local_);
        });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.assemble_s);
        exchange_.empty(of_samples_, slice_, chunk, blocks, [&](Columns some, const auto& from) {
          samples.resize(rows.size() * some.count());
          for (std::size_t j = 0; j < rows.size(); ++j) rows[j] = samples.data() + j * some.count();
          merge_->run(from, rows, some);
          for (std::size_t j = 0; j < rows.size(); ++j) {
            write(j * layout_.block_length + some.begin, std::span<const T>(rows[j], some.count()));
          }
        });
      },
      times_.gather_s);
  times_.bytes_gathered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template class RealSlicesFft<float>;
template class RealSlicesFft<double>;

}  // namespace papfft::fft
