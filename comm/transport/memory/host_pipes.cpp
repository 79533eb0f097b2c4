// SPDX-License-Identifier: MIT
#include "comm/transport/memory/host_pipes.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

namespace papfft::comm {

void HostPipes::prepare(void* memory, int ranks) {
  auto* pipes = static_cast<std::byte*>(memory);
  for (int i = 0; i < ranks * kPerRank; ++i) new (pipes + static_cast<std::size_t>(i) * sizeof(Pipe)) Pipe;
}

HostPipes::HostPipes(std::shared_ptr<void> memory, std::vector<int> place_of_rank, Rank own,
                     std::size_t from_bytes)
    : memory_(std::move(memory)),
      place_of_rank_(std::move(place_of_rank)),
      own_(own),
      from_bytes_(from_bytes) {
  const auto most = std::ranges::max_element(place_of_rank_);
  speed_.resize(most == place_of_rank_.end() ? 0 : static_cast<std::size_t>(*most + 1));
}

std::optional<int> HostPipes::take(Rank peer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!speed_[static_cast<std::size_t>(place(peer))].pays()) return std::nullopt;
  for (int i = 0; i < kPerRank;
       ++i) {  // the first that is free: the one that is most likely still in the cache
    std::size_t& last = bytes_.at(static_cast<std::size_t>(i));
    Pipe& pipe = own(i);
    if (!pipe.is_free(last)) continue;
    pipe.begin();
    last = bytes;
    return i;
  }
  return std::nullopt;
}

void HostPipes::wrote(Rank peer, int number, std::size_t bytes, std::int64_t ns) {
  const std::lock_guard lock(mutex_);
  std::size_t& touched = touched_.at(static_cast<std::size_t>(number));
  const std::size_t used = std::min(bytes, Pipe::kBytes);
  if (used > touched) {  // most of the time went into getting the memory
    touched = used;
    return;
  }
  speed_[static_cast<std::size_t>(place(peer))].wrote(bytes, ns);
}

Pipe& HostPipes::at(Rank writer, int number) {
  if (place(writer) < 0 || number < 0 || number >= kPerRank) throw std::out_of_range("no such pipe");
  auto* pipes = static_cast<std::byte*>(memory_.get());
  const int index = place(writer) * kPerRank + number;
  return *std::launder(reinterpret_cast<Pipe*>(pipes + static_cast<std::size_t>(index) * sizeof(Pipe)));
}

}  // namespace papfft::comm
