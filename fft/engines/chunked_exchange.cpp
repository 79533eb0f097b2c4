// SPDX-License-Identifier: MIT
#include "fft/engines/chunked_exchange.hpp"

#include <span>
#include <string_view>
#include <utility>

#include "fft/engines/timer.hpp"

namespace papfft::fft {
namespace {

constexpr std::size_t kLeastChunkBytes = std::size_t{1} << 20U;
/// Of a chunk, unless the blocks of so many ranks would be too short.
constexpr std::size_t kManyChunkBytes = std::size_t{2} << 20U;
constexpr std::size_t kMostChunkBytes = std::size_t{8} << 20U;
/// A block for one rank that is worth a message of its own.
constexpr std::size_t kLongBlockBytes = std::size_t{1} << 14U;

std::size_t bytes_of_chunk(std::size_t share_bytes, std::size_t ranks) {
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
  const std::size_t unit = columns < kTile ? grain : std::max(grain, kTile);
  return columns / unit * unit;
}

}  // namespace

template <typename T>
ChunkedExchange<T>::ChunkedExchange(comm::Collectives& comm, std::string algorithm, std::size_t chunk_bytes)
    : comm_(comm),
      ranks_(static_cast<std::size_t>(comm.size())),
      algorithm_(std::move(algorithm)),
      chunk_bytes_(chunk_bytes) {}

template <typename T>
std::size_t ChunkedExchange<T>::memory_bytes(std::size_t share_bytes, std::size_t ranks) {
  const std::size_t buffers =
      2 * kUnderWay * std::min(bytes_of_chunk(share_bytes, ranks), std::max<std::size_t>(share_bytes, 4096));
  return 2 * share_bytes + share_bytes / 16 + buffers + buffers / 6;
}

template <typename T>
typename ChunkedExchange<T>::Route ChunkedExchange<T>::route_of(const Matrix& matrix) const {
  const std::size_t share_bytes = matrix.rows * matrix.columns * sizeof(Complex);
  const std::size_t width =
      columns_of<T>(chunk_bytes_ > 0 ? chunk_bytes_ : bytes_of_chunk(share_bytes, ranks_), matrix);
  Route route{matrix, matrix.rows / ranks_, {}};
  for (std::size_t begin = 0; begin < matrix.columns; begin += width) {
    route.chunks.push_back({begin, std::min(begin + width, matrix.columns)});
  }
  return route;
}

template <typename T>
void ChunkedExchange<T>::reserve(std::initializer_list<const Route*> routes) {
  std::size_t chunks = 0;
  std::size_t elements = 0;
  for (const Route* route : routes) {
    chunks = std::max(chunks, route->chunks.size());
    elements = std::max(elements, route->matrix.rows * route->chunks.front().count());
  }
  for (std::size_t i = 0; i < std::min(kUnderWay, chunks); ++i) {
    outgoing_[i] = Buffer<Complex>(elements);
    incoming_[i] = Buffer<Complex>(elements);
  }
}

template <typename T>
void ChunkedExchange<T>::worked_on(std::size_t elements) {
  unmoved_bytes_ += elements * sizeof(Complex);
  if (unmoved_bytes_ < kPassBytes) return;
  unmoved_bytes_ = 0;
  const auto under_way = std::ranges::find_if(pending_, [](const auto& call) { return !call.done(); });
  if (under_way != pending_.end()) (void)under_way->test();  // moves all of them
}

template <typename T>
void ChunkedExchange<T>::run(const Route& route, const Step& prepare, const Step& take, double& waiting_s) {
  const std::size_t chunks = route.chunks.size();
  const std::size_t block_bytes = route.rows * route.chunks.front().count() * sizeof(Complex);
  // Of several exchanges under way, none has to end one partner's message before the next.
  const bool all_at_once = chunks > 1 && block_bytes >= kLongBlockBytes;
  const std::string_view algorithm =
      algorithm_ == "auto" && all_at_once ? std::string_view("linear") : algorithm_;
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

template class ChunkedExchange<float>;
template class ChunkedExchange<double>;

}  // namespace papfft::fft
