// SPDX-License-Identifier: MIT
#include "fft/engines/real_slices_inverse_fft.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace papfft::fft {
namespace {

std::size_t checked_half_of_inverse(const SlicesPlan& plan, int ranks) {
  if (!can_split_real(plan.length, static_cast<std::size_t>(ranks)))
    throw std::invalid_argument("RealSlicesInverseFft: twice the number of ranks must divide the length");
  if (plan.direction != Direction::inverse)
    throw std::invalid_argument("RealSlicesInverseFft: inverse transforms alone");
  return plan.length / 2;
}

template <typename T>
std::variant<SteppedFft<T>, SteppedRealInverseFft<T>> local_inverse_fft(bool is_root,
                                                                        const SliceLayout& layout,
                                                                        const SlicesPlan& plan) {
  if (is_root) {
    return SteppedRealInverseFft<T>(layout.block_length, layout.ranks, plan.rigor, plan.local_kernel);
  }
  return SteppedFft<T>(layout.block_length, layout.ranks, Direction::inverse, plan.rigor, plan.local_kernel);
}

}  // namespace

template <typename T>
RealSlicesInverseFft<T>::RealSlicesInverseFft(comm::Collectives& comm, const SlicesPlan& plan)
    : rank_(static_cast<std::size_t>(comm.rank())),
      layout_(checked_half_of_inverse(plan, comm.size()), static_cast<std::size_t>(comm.size())),
      slice_(layout_.slice(rank_)),
      ordered_(layout_),
      local_(local_inverse_fft<T>(rank_ == 0, layout_, plan)),
      merge_(plan.length, layout_.ranks, slice_),
      exchange_(comm, plan.alltoall, plan.chunk_bytes),
      way_in_(exchange_.route_of({2 * layout_.ranks, ordered_.width, 1})),
      way_out_(exchange_.route_of(matrix_out())) {
  exchange_.reserve({&way_in_, &way_out_});
}

/// The same on all ranks: of columns that rank 0 can give.
template <typename T>
typename SteppedFft<T>::Matrix RealSlicesInverseFft<T>::matrix_out() const {
  auto matrix = std::visit([](const auto& fft) { return fft.out(); }, local_);
  if (matrix.grain > 1) matrix.grain *= 2;
  return matrix;
}

template <typename T>
std::uint64_t RealSlicesInverseFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  const std::uint64_t share = (length / 2 + ranks - 1) / ranks * sizeof(Complex);
  return Exchange::memory_bytes(share, ranks);  // execute() has a buffer more
}

template <typename T>
LocalKernel RealSlicesInverseFft<T>::kernel() const noexcept {
  const auto* other = std::get_if<SteppedFft<T>>(&local_);
  return other != nullptr ? other->kernel() : std::get_if<SteppedRealInverseFft<T>>(&local_)->kernel();
}

template <typename T>
std::span<std::complex<T>> RealSlicesInverseFft<T>::block() {
  return std::visit([](auto& fft) { return fft.vector(); }, local_);
}

template <typename T>
void RealSlicesInverseFft<T>::put_every_other(std::size_t first, std::size_t count, const Complex* from) {
  const std::span<Complex> bins = block();
  if (rank_ == 0) {
    for (std::size_t i = 0; i < count; ++i) bins[first + 2 * i] = from[i];
  } else if (first % 2 == 0) {
    std::copy_n(from, count, bins.data() + first / 2);
  } else {
    Complex* const last = bins.data() + (bins.size() - 1 - first / 2);
    for (std::size_t i = 0; i < count; ++i) *(last - i) = std::conj(from[i]);
  }
}

template <typename T>
void RealSlicesInverseFft<T>::execute(const Read& read) {
  const std::size_t ranks = layout_.ranks;
  Buffer<Complex> some(2 * ranks * way_in_.chunks.front().count());
  exchange_.run(
      way_in_,
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
          const std::size_t count = ordered_.count(run / 2, run % 2, chunk);
          if (count == 0) continue;
          put_every_other(ordered_.first_number(run / 2, run % 2, chunk), count,
                          blocks + run * chunk.count());
          exchange_.worked_on(count);
        }
      },
      times_.scatter_s);
  if (rank_ == 0) {
    Complex last;
    read(ranks * layout_.block_length, std::span(&last, 1));
    Complex& ends = block().front();
    ends = {ends.real(), last.real()};
  }
  times_.bytes_scattered += 2 * (ranks - 1) * ordered_.width * sizeof(Complex);
}

template <typename T>
void RealSlicesInverseFft<T>::put_in_order(const Write& write) {
  std::vector<T> samples;
  std::vector<T*> rows(2 * layout_.ranks);
  exchange_.run(
      way_out_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.compute_s);
        exchange_.in_passes(chunk, way_out_.matrix, [&](Columns some) {
          std::visit([&](auto& fft) { fft.get(some, blocks + (some.begin - chunk.begin), chunk.count()); },
                     local_);
        });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.assemble_s);
        exchange_.empty(way_out_, slice_, chunk, blocks, [&](Columns some, const auto& from) {
          samples.resize(rows.size() * some.count());
          for (std::size_t j = 0; j < rows.size(); ++j) rows[j] = samples.data() + j * some.count();
          merge_.run(from, rows, some);
          for (std::size_t j = 0; j < rows.size(); ++j) {
            write(j * layout_.block_length + some.begin, std::span<const T>(rows[j], some.count()));
          }
        });
      },
      times_.gather_s);
  times_.bytes_gathered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template class RealSlicesInverseFft<float>;
template class RealSlicesInverseFft<double>;

}  // namespace papfft::fft
