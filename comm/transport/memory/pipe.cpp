// SPDX-License-Identifier: MIT
#include "comm/transport/memory/pipe.hpp"

#include <algorithm>
#include <cstring>

namespace papfft::comm {

namespace {
/// Told to the receiver at once: a part of the ring, so that the receiver begins early, but not so little that both wait for the
/// same cache line all the time.
constexpr std::size_t kStep = std::size_t{16} << 10U;
}  // namespace

std::size_t Pipe::write(std::span<const std::byte> rest) {
  std::uint64_t at = written_.load(std::memory_order_relaxed);
  const std::uint64_t read = read_.load(std::memory_order_acquire);
  if (read == kDropped) return rest.size();
  const std::uint64_t limit = read + kBytes;
  std::size_t done = 0;
  while (done < rest.size() && at < limit) {
    const std::size_t place = at % kBytes;
    const std::size_t step =
        std::min({rest.size() - done, static_cast<std::size_t>(limit - at), kBytes - place, kStep});
    std::memcpy(ring_.data() + place, rest.data() + done, step);
    done += step;
    at += step;
    written_.store(at, std::memory_order_release);
  }
  return done;
}

std::span<const std::byte> Pipe::readable() const {
  const std::size_t place = read_.load(std::memory_order_relaxed) % kBytes;
  return {ring_.data() + place, std::min(filled(), kBytes - place)};
}

bool Pipe::copy(std::span<std::byte> to) {
  if (filled() < to.size()) return false;
  const std::size_t place = read_.load(std::memory_order_relaxed) % kBytes;
  const std::size_t first = std::min(to.size(), kBytes - place);
  std::memcpy(to.data(), ring_.data() + place, first);
  std::memcpy(to.data() + first, ring_.data(), to.size() - first);
  return true;
}

}  // namespace papfft::comm
