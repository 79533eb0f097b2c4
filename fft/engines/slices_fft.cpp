// SPDX-License-Identifier: MIT
#include "fft/engines/slices_fft.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace papfft::fft {
namespace {

constexpr std::size_t kLeastChunkBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostChunkBytes = std::size_t{8} << 20U;
/// Messages are moved on after so many bytes of a pass.
constexpr std::size_t kPassBytes = std::size_t{1} << 18U;

std::size_t chunk_bytes(std::size_t share_bytes, std::size_t wanted) {
  return wanted > 0 ? wanted : std::clamp(share_bytes / 4, kLeastChunkBytes, kMostChunkBytes);
}

/// Columns whose P rows have about so many bytes; whole tiles of the pass, if there is more than one.
template <typename T>
std::size_t columns_of(std::size_t bytes, std::size_t ranks) {
  constexpr std::size_t kTile = ColumnDft<T>::kColumns;
  const std::size_t columns = std::max<std::size_t>(1, bytes / (ranks * sizeof(std::complex<T>)));
  return columns < kTile ? columns : columns / kTile * kTile;
}

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
    : comm_(comm),
      plan_(plan),
      layout_(plan.length, static_cast<std::size_t>(comm.size())),
      rank_(static_cast<std::size_t>(comm.rank())),
      slice_(layout_.slice(rank_)),
      split_(plan.length, layout_.ranks, plan.direction, slice_),
      local_(plan.local_kernel
                 ? LocalFft<T>(layout_.block_length, plan.direction, *plan.local_kernel, plan.rigor)
                 : LocalFft<T>(layout_.block_length, plan.direction, plan.rigor)),
      block_(layout_.ranks * layout_.width) {
  const std::size_t share_bytes = block_.size() * sizeof(Complex);
  const std::size_t width = columns_of<T>(chunk_bytes(share_bytes, plan.chunk_bytes), layout_.ranks);
  for (std::size_t begin = 0; begin < layout_.width; begin += width) {
    chunks_.push_back({begin, std::min(begin + width, layout_.width)});
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(2, chunks_.size()); ++i) {
    outgoing_[i] = Buffer<Complex>(layout_.ranks * chunks_.front().count());
    incoming_[i] = Buffer<Complex>(layout_.ranks * chunks_.front().count());
  }
}

template <typename T>
std::uint64_t SlicesFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  const std::uint64_t share = (length + ranks - 1) / ranks * sizeof(Complex);
  const std::uint64_t chunk =
      std::min<std::uint64_t>(chunk_bytes(share, 0), std::max<std::uint64_t>(share, 4096));
  return 2 * share + share / 16 + 5 * chunk;
}

/// The columns of this rank's slice that a chunk has: fewer than the chunk's where the slice ends before.
template <typename T>
Columns SlicesFft<T>::mine_of(Columns chunk) const {
  return {std::min(slice_.begin + chunk.begin, slice_.end), std::min(slice_.begin + chunk.end, slice_.end)};
}

template <typename T>
void SlicesFft<T>::move_on() {
  (void)pending_.test();
}

/// Prepares each chunk for all ranks, exchanges it, and takes what has come; one exchange is under way beside the other two steps.
template <typename T>
void SlicesFft<T>::exchange(const Step& prepare, const Step& take, double& waiting_s) {
  prepare(chunks_.front(), outgoing_[0].data());
  for (std::size_t k = 0; k < chunks_.size(); ++k) {
    const std::size_t elements = layout_.ranks * chunks_[k].count();
    const std::span<const Complex> send(outgoing_[k % 2].data(), elements);
    const std::span<Complex> recv(incoming_[k % 2].data(), elements);
    pending_ = comm_.start(comm_.prepared({.operation = comm::Operation::alltoall,
                                           .element_bytes = sizeof(Complex),
                                           .algorithm = plan_.alltoall,
                                           .send = std::as_bytes(send),
                                           .recv = std::as_writable_bytes(recv)}));
    if (k > 0) take(chunks_[k - 1], incoming_[(k - 1) % 2].data());
    if (k + 1 < chunks_.size()) prepare(chunks_[k + 1], outgoing_[(k + 1) % 2].data());
    const Timer timer(waiting_s);
    pending_.wait();
  }
  take(chunks_.back(), incoming_[(chunks_.size() - 1) % 2].data());
}

/// Of a chunk's columns, those that the slice has become elements of the blocks; the others are padding.
template <typename T>
void SlicesFft<T>::make_blocks(const Load& load, Columns chunk, Complex* blocks) {
  const Columns mine = mine_of(chunk);
  const std::size_t width = chunk.count();
  const std::size_t step = columns_of<T>(kPassBytes, layout_.ranks);
  std::vector<Complex*> to(layout_.ranks);
  for (std::size_t n = mine.begin; n < mine.end; n += step) {
    const Columns some{n, std::min(n + step, mine.end)};
    for (std::size_t r = 0; r < to.size(); ++r) to[r] = blocks + r * width + (n - mine.begin);
    split_.run(load(some, to), to, some);
    move_on();
  }
  const std::size_t has = mine.count();
  for (std::size_t r = 0; r < layout_.ranks && has < width; ++r) {
    std::fill_n(blocks + r * width + has, width - has, Complex{});
  }
}

template <typename T>
void SlicesFft<T>::run(const Load& load) {
  exchange(
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.split_s);
        make_blocks(load, chunk, blocks);
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.split_s);
        for (std::size_t s = 0; s < layout_.ranks; ++s) {
          std::copy_n(blocks + s * chunk.count(), chunk.count(),
                      block_.data() + s * layout_.width + chunk.begin);
        }
        move_on();
      },
      times_.scatter_s);
  times_.bytes_scattered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
  const Timer timer(times_.compute_s);
  local_.execute(block_.data(), block_.data());
}

template <typename T>
void SlicesFft<T>::execute(const Read& read) {
  std::vector<const Complex*> rows(layout_.ranks);
  run([&](Columns columns, std::span<Complex* const> room) {
    for (std::size_t j = 0; j < room.size(); ++j) {
      read(j * layout_.block_length + columns.begin, std::span(room[j], columns.count()));
      rows[j] = room[j];
      move_on();
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
void SlicesFft<T>::put_in_order(const Write& write) {
  Buffer<Complex> ordered(layout_.ranks * chunks_.front().count());
  std::fill(block_.data() + layout_.block_length, block_.end(), Complex{});  // padding travels, too
  exchange(
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.assemble_s);
        for (std::size_t d = 0; d < layout_.ranks; ++d) {
          std::copy_n(block_.data() + d * layout_.width + chunk.begin, chunk.count(),
                      blocks + d * chunk.count());
        }
        move_on();
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.assemble_s);
        const Columns mine = mine_of(chunk);
        const std::size_t count = mine.count();
        if (count == 0) return;
        std::vector<const Complex*> from(layout_.ranks);
        for (std::size_t r = 0; r < from.size(); ++r) from[r] = blocks + r * chunk.count();
        interleave<T>(from, count, ordered.data());
        move_on();
        write(layout_.ranks * mine.begin, std::span<const Complex>(ordered.data(), layout_.ranks * count));
        move_on();
      },
      times_.gather_s);
  times_.bytes_gathered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template class SlicesFft<float>;
template class SlicesFft<double>;

}  // namespace papfft::fft
