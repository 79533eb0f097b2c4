// SPDX-License-Identifier: MIT
#include "fft/engines/slices_fft.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace papfft::fft {
namespace {

constexpr std::size_t kLeastChunkBytes = std::size_t{1} << 20U;
/// Of a chunk, unless the blocks of so many ranks would be too short.
constexpr std::size_t kManyChunkBytes = std::size_t{2} << 20U;
constexpr std::size_t kMostChunkBytes = std::size_t{8} << 20U;
/// A block for one rank that is worth a message of its own.
constexpr std::size_t kLongBlockBytes = std::size_t{1} << 14U;
/// Messages are moved on after so many bytes of a pass.
constexpr std::size_t kPassBytes = std::size_t{1} << 18U;

std::size_t chunk_bytes(std::size_t share_bytes, std::size_t ranks) {
  return std::clamp(share_bytes / 4, kLeastChunkBytes,
                    std::clamp(ranks * kLongBlockBytes, kManyChunkBytes, kMostChunkBytes));
}

/// Columns of the matrix that have about so many bytes: what the transform works on together, and whole tiles of the split, if there is
/// more than one.
template <typename T>
std::size_t columns_of(std::size_t bytes, const typename SteppedFft<T>::Matrix& matrix) {
  constexpr std::size_t kTile = ColumnDft<T>::kColumns;
  const std::size_t grain = matrix.grain;
  const std::size_t columns =
      std::clamp<std::size_t>(bytes / (matrix.rows * sizeof(std::complex<T>)), grain, matrix.columns);
  const std::size_t unit = columns < kTile ? grain : kTile;
  return columns / unit * unit;
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
      local_(layout_.block_length, layout_.ranks, plan.direction, plan.rigor, plan.local_kernel),
      way_in_(route_of(local_.in())),
      way_out_(route_of(local_.out())) {
  const auto chunk_size = [](const Route& way) { return way.matrix.rows * way.chunks.front().count(); };
  const std::size_t buffers = std::min(kUnderWay, std::max(way_in_.chunks.size(), way_out_.chunks.size()));
  for (std::size_t i = 0; i < buffers; ++i) {
    outgoing_[i] = Buffer<Complex>(std::max(chunk_size(way_in_), chunk_size(way_out_)));
    incoming_[i] = Buffer<Complex>(outgoing_[i].size());
  }
}

template <typename T>
typename SlicesFft<T>::Route SlicesFft<T>::route_of(const typename SteppedFft<T>::Matrix& matrix) const {
  const std::size_t share_bytes = matrix.rows * matrix.columns * sizeof(Complex);
  const std::size_t bytes =
      plan_.chunk_bytes > 0 ? plan_.chunk_bytes : chunk_bytes(share_bytes, layout_.ranks);
  const std::size_t width = columns_of<T>(bytes, matrix);
  Route route{matrix, matrix.rows / layout_.ranks, {}};
  for (std::size_t begin = 0; begin < matrix.columns; begin += width) {
    route.chunks.push_back({begin, std::min(begin + width, matrix.columns)});
  }
  return route;
}

template <typename T>
std::uint64_t SlicesFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  const std::uint64_t share = (length + ranks - 1) / ranks * sizeof(Complex);
  const std::uint64_t chunk =
      std::min<std::uint64_t>(chunk_bytes(share, ranks), std::max<std::uint64_t>(share, 4096));
  return 2 * share + share / 16 + (2 * kUnderWay + 1) * chunk;
}

/// Moves messages on, if there was enough work since the last time.
template <typename T>
void SlicesFft<T>::worked_on(std::size_t elements) {
  unmoved_bytes_ += elements * sizeof(Complex);
  if (unmoved_bytes_ < kPassBytes) return;
  unmoved_bytes_ = 0;
  const auto under_way = std::ranges::find_if(pending_, [](const auto& call) { return !call.done(); });
  if (under_way != pending_.end()) (void)under_way->test();  // moves all of them
}

/// Prepares each chunk for all ranks, exchanges it, and takes what has come. Others are under way meanwhile.
template <typename T>
void SlicesFft<T>::exchange(const Route& route, const Step& prepare, const Step& take, double& waiting_s) {
  const std::size_t chunks = route.chunks.size();
  const std::size_t block_bytes = route.rows * route.chunks.front().count() * sizeof(Complex);
  // Of several exchanges under way, none has to end one partner's message before the next.
  const bool all_at_once = chunks > 1 && block_bytes >= kLongBlockBytes;
  std::string_view algorithm = plan_.alltoall;
  if (algorithm == "auto" && all_at_once) algorithm = "linear";
  const auto end = [&](std::size_t k) {
    {
      const Timer timer(waiting_s);
      pending_[k % kUnderWay].wait();
    }
    take(route.chunks[k], incoming_[k % kUnderWay].data());
  };
  for (std::size_t k = 0; k < chunks; ++k) {
    if (k >= kUnderWay) end(k - kUnderWay);
    const std::size_t elements = route.matrix.rows * route.chunks[k].count();
    const std::span<Complex> send(outgoing_[k % kUnderWay].data(), elements);
    const std::span<Complex> recv(incoming_[k % kUnderWay].data(), elements);
    prepare(route.chunks[k], send.data());
    pending_[k % kUnderWay] = comm_.start(comm_.prepared({.operation = comm::Operation::alltoall,
                                                          .element_bytes = sizeof(Complex),
                                                          .algorithm = algorithm,
                                                          .send = std::as_bytes(send),
                                                          .recv = std::as_writable_bytes(recv)}));
  }
  for (std::size_t k = chunks - std::min(chunks, kUnderWay); k < chunks; ++k) end(k);
}

/// Does the work on some columns of a chunk at a time, and moves messages on in between.
template <typename T>
template <typename Work>
void SlicesFft<T>::in_passes(Columns chunk, std::size_t rows, const Work& work) {
  const std::size_t grain = local_.in().grain;
  const std::size_t step = std::max(grain, kPassBytes / (rows * sizeof(Complex)) / grain * grain);
  for (std::size_t begin = chunk.begin; begin < chunk.end; begin += step) {
    const Columns some{begin, std::min(begin + step, chunk.end)};
    work(some);
    worked_on(rows * some.count());
  }
}

/// Of a chunk's columns, those that the slice has become elements of the blocks; the others are padding.
template <typename T>
void SlicesFft<T>::make_blocks(const Load& load, Columns chunk, Complex* blocks) {
  const std::size_t width = chunk.count();
  const std::size_t block = way_in_.rows * width;
  const std::size_t step = std::max<std::size_t>(1, kPassBytes / (layout_.ranks * sizeof(Complex)));
  std::vector<Complex*> to(layout_.ranks);
  for (std::size_t i = 0; i < way_in_.rows; ++i) {
    const std::size_t row = slice_.begin + i * way_in_.matrix.columns;
    const Columns mine{std::min(row + chunk.begin, slice_.end), std::min(row + chunk.end, slice_.end)};
    for (std::size_t n = mine.begin; n < mine.end; n += step) {
      const Columns some{n, std::min(n + step, mine.end)};
      for (std::size_t r = 0; r < to.size(); ++r) to[r] = blocks + r * block + i * width + (n - mine.begin);
      split_.run(load(some, to), to, some);
      worked_on(layout_.ranks * some.count());
    }
    const std::size_t has = mine.count();
    for (std::size_t r = 0; r < layout_.ranks && has < width; ++r) {
      std::fill_n(blocks + r * block + i * width + has, width - has, Complex{});
    }
  }
}

template <typename T>
void SlicesFft<T>::run(const Load& load) {
  exchange(
      way_in_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.split_s);
        make_blocks(load, chunk, blocks);
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.compute_s);
        in_passes(chunk, way_in_.matrix.rows, [&](Columns some) {
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
      worked_on(columns.count());
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
  std::vector<const Complex*> from(layout_.ranks);
  exchange(
      way_out_,
      [&](Columns chunk, Complex* blocks) {
        const Timer timer(times_.compute_s);
        in_passes(chunk, way_out_.matrix.rows, [&](Columns some) {
          local_.get(some, blocks + (some.begin - chunk.begin), chunk.count());
        });
      },
      [&](Columns chunk, const Complex* blocks) {
        const Timer timer(times_.assemble_s);
        const std::size_t width = chunk.count();
        for (std::size_t i = 0; i < way_out_.rows; ++i) {
          const std::size_t q = slice_.begin + i * way_out_.matrix.columns + chunk.begin;
          const std::size_t count = std::min(q + width, slice_.end) - std::min(q, slice_.end);
          if (count == 0) break;
          for (std::size_t r = 0; r < from.size(); ++r) from[r] = blocks + (r * way_out_.rows + i) * width;
          Complex* const to = place(layout_.ranks * q, layout_.ranks * count);
          interleave<T>(from, count, to);
          placed(layout_.ranks * q, std::span<const Complex>(to, layout_.ranks * count));
          worked_on(layout_.ranks * count);
        }
      },
      times_.gather_s);
  times_.bytes_gathered += (layout_.ranks - 1) * layout_.width * sizeof(Complex);
}

template class SlicesFft<float>;
template class SlicesFft<double>;

}  // namespace papfft::fft
