// SPDX-License-Identifier: MIT
#include "fft/engines/slices_fft.hpp"

#include <algorithm>
#include <stdexcept>

namespace papfft::fft {
namespace {

std::size_t checked_ranks(std::size_t length, std::size_t ranks) {
  if (length == 0 || ranks == 0 || length % ranks != 0)
    throw std::invalid_argument("SlicesFft: the number of ranks must divide the length");
  return ranks;
}

}  // namespace

SliceLayout::SliceLayout(std::size_t length, std::size_t of_ranks)
    : ranks(checked_ranks(length, of_ranks)),
      block_length(length / of_ranks),
      width((block_length + of_ranks - 1) / of_ranks) {}

Columns SliceLayout::slice(std::size_t rank) const {
  return {std::min(rank * width, block_length), std::min((rank + 1) * width, block_length)};
}

template <typename T>
SlicesFft<T>::SlicesFft(comm::Collectives& comm, const SlicesPlan& plan)
    : layout_(plan.length, static_cast<std::size_t>(comm.size())),
      slice_(layout_.slice(static_cast<std::size_t>(comm.rank()))),
      split_(plan.length, layout_.ranks, plan.direction, slice_),
      local_(layout_.block_length, layout_.ranks, plan.direction, plan.rigor, plan.local_kernel),
      exchange_(comm, plan.alltoall, plan.chunk_bytes),
      way_in_(exchange_.route_of(local_.in())),
      way_out_(exchange_.route_of(local_.out())) {
  exchange_.reserve({&way_in_, &way_out_});
}

template <typename T>
std::uint64_t SlicesFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  const std::uint64_t share = (length + ranks - 1) / ranks * sizeof(Complex);
  return Exchange::memory_bytes(share, ranks);  // put_in_order() has a buffer more
}

template <typename T>
void SlicesFft<T>::run(const Load& load) {
  exchange_.run(
      way_in_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.split_s);
        exchange_.fill(way_in_, slice_, chunk, blocks, [&](Columns some, std::span<Complex* const> to) {
          split_.run(load(some, to), to, some);
        });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.compute_s);
        exchange_.in_passes(chunk, way_in_.matrix, [&](Columns some) {
          local_.put(some, blocks + (some.begin - chunk.begin), chunk.count());
        });
      },
      times_.scatter_s);
  times_.bytes_scattered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template <typename T>
void SlicesFft<T>::execute(const Read& read) {
  std::vector<const Complex*> rows(layout_.ranks);
  run([&](Columns columns, std::span<Complex* const> room) {
    for (std::size_t j = 0; j < room.size(); ++j) {
      read(j * layout_.block_length + columns.begin, std::span(room[j], columns.count()));
      rows[j] = room[j];
      exchange_.worked_on(columns.count());
    }
    return Rows(rows);
  });
}

template <typename T>
void SlicesFft<T>::execute(const Complex* slice) {
  std::vector<const Complex*> rows(layout_.ranks);
  run([&](Columns columns, std::span<Complex* const> /*room*/) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      rows[j] = slice + j * slice_.count() + (columns.begin - slice_.begin);
    }
    return Rows(rows);
  });
}

template <typename T>
std::span<std::complex<T>> SlicesFft<T>::bins() {
  const Timer timer(times_.compute_s);
  return local_.result();
}

template <typename T>
void SlicesFft<T>::put_in_order(const Write& write) {
  Buffer<Complex> ordered(layout_.ranks * way_out_.chunks.front().count());
  put_in_order([&](std::uint64_t /*first*/, std::size_t /*count*/) { return ordered.data(); }, write);
}

template <typename T>
void SlicesFft<T>::put_in_order(Complex* part) {
  const std::uint64_t begin = layout_.ranks * slice_.begin;
  put_in_order([&](std::uint64_t first, std::size_t /*count*/) { return part + (first - begin); },
               [](std::uint64_t, std::span<const Complex>) {});
}

/// @param place  says where the bins of some rows shall be put. @param placed  is told when they are there
template <typename T>
void SlicesFft<T>::put_in_order(const Place& place, const Write& placed) {
  exchange_.run(
      way_out_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.compute_s);
        exchange_.in_passes(chunk, way_out_.matrix, [&](Columns some) {
          local_.get(some, blocks + (some.begin - chunk.begin), chunk.count());
        });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.assemble_s);
        const std::size_t ranks = layout_.ranks;
        exchange_.empty(way_out_, slice_, chunk, blocks, [&](Columns some, const auto& from) {
          Complex* const to = place(ranks * some.begin, ranks * some.count());
          interleave<T>(from, some.count(), to);
          placed(ranks * some.begin, std::span<const Complex>(to, ranks * some.count()));
        });
      },
      times_.gather_s);
  times_.bytes_gathered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template class SlicesFft<float>;
template class SlicesFft<double>;

}  // namespace papfft::fft
