// SPDX-License-Identifier: MIT
#include "comm/transport/memory/host_pipes.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "papfft/errors.hpp"

namespace papfft::comm {

namespace {

/// Where in the memory of a host everything is.
struct Places {
  explicit Places(int ranks_in)
      : ranks(static_cast<std::size_t>(ranks_in)),
        counters(ranks * HostPipes::kPerRank * sizeof(Pipe)),
        cells(counters + whole_pages(ranks * ranks * sizeof(Letters::Counters))),
        end(cells + ranks * ranks * Letters::kCells * sizeof(Letters::Cell)) {}

  static std::size_t whole_pages(std::size_t bytes) {
    return (bytes + Letters::kPage - 1) / Letters::kPage * Letters::kPage;
  }

  /// Letters from one place to another.
  [[nodiscard]] Letters letters(void* memory, int from, int to) const {
    auto* const base = static_cast<std::byte*>(memory);
    const std::size_t pair = static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to);
    auto* const count = base + counters + pair * sizeof(Letters::Counters);
    auto* const cell = base + cells + pair * Letters::kCells * sizeof(Letters::Cell);
    return {*std::launder(reinterpret_cast<Letters::Counters*>(count)),
            reinterpret_cast<Letters::Cell*>(cell)};
  }

  std::size_t ranks;
  std::size_t counters;
  std::size_t cells;
  std::size_t end;
};

}  // namespace

std::size_t HostPipes::bytes_for(int ranks) { return Places(ranks).end; }

void HostPipes::prepare(void* memory, int ranks) {
  auto* const base = static_cast<std::byte*>(memory);
  const Places places(ranks);
  for (std::size_t i = 0; i < places.ranks * kPerRank; ++i) new (base + i * sizeof(Pipe)) Pipe;
  for (std::size_t i = 0; i < places.ranks * places.ranks; ++i)
    new (base + places.counters + i * sizeof(Letters::Counters)) Letters::Counters;
}

HostPipes::HostPipes(std::shared_ptr<void> memory, std::vector<int> place_of_rank, Rank own,
                     std::size_t from_bytes)
    : memory_(std::move(memory)),
      place_of_rank_(std::move(place_of_rank)),
      own_(own),
      from_bytes_(std::min(from_bytes, kPipedFromBytes)) {
  const auto most = std::ranges::max_element(place_of_rank_);
  const int ranks = most == place_of_rank_.end() ? 0 : *most + 1;
  const Places places(ranks);
  for (int p = 0; p < ranks; ++p) {
    peers_.push_back({.from = places.letters(memory_.get(), p, place(own_)),
                      .to = places.letters(memory_.get(), place(own_), p)});
  }
}

std::optional<int> HostPipes::take(Rank target, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!peer(target).speed.pays()) return std::nullopt;
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

void HostPipes::wrote(Rank target, int number, std::size_t bytes, std::int64_t ns) {
  const std::lock_guard lock(mutex_);
  std::size_t& touched = touched_.at(static_cast<std::size_t>(number));
  const std::size_t used = std::min(bytes, Pipe::kBytes);
  if (used > touched) {  // most of the time went into getting the memory
    touched = used;
    return;
  }
  peer(target).speed.wrote(bytes, ns);
}

Pipe& HostPipes::at(Rank writer, int number) {
  if (place(writer) < 0 || number < 0 || number >= kPerRank) throw std::out_of_range("no such pipe");
  auto* pipes = static_cast<std::byte*>(memory_.get());
  const int index = place(writer) * kPerRank + number;
  return *std::launder(reinterpret_cast<Pipe*>(pipes + static_cast<std::size_t>(index) * sizeof(Pipe)));
}

bool HostPipes::post(Rank target, const LetterHead& head, std::span<const std::byte> enclosed) {
  const std::lock_guard lock(mutex_);
  if (!left_.empty()) post_left();
  return peer(target).to.put(head, enclosed);
}

void HostPipes::post_later(Rank target, const LetterHead& head, std::span<const std::byte> enclosed) {
  const std::lock_guard lock(mutex_);
  keep(left_, head, enclosed);
  left_.back().target = target;
  post_left();
}

void HostPipes::post_left() {
  for (std::size_t i = 0; i < left_.size();) {
    if (peer(left_[i].target).to.put(left_[i].head, left_[i].enclosed)) {
      discard(left_, i);
    } else {
      ++i;
    }
  }
}

bool HostPipes::collect(Rank source, LetterReader& reader) {
  const std::lock_guard lock(mutex_);
  if (!left_.empty()) post_left();
  Peer& from = peer(source);
  bool any = false;
  for (std::size_t i = 0; i < from.kept.size();) {
    if (reader.take_letter(source, from.kept[i].head, from.kept[i].enclosed)) {
      discard(from.kept, i);
      any = true;
    } else {
      ++i;
    }
  }
  while (const Letters::Cell* const letter = from.from.first()) {
    const LetterHead head = letter->head;
    const std::span<const std::byte> enclosed = enclosed_in(head, *letter);
    if (reader.take_letter(source, head, enclosed)) {
      any = true;
    } else {
      keep(from.kept, head, enclosed);
    }
    from.from.remove_first();
  }
  return any;
}

std::span<const std::byte> HostPipes::enclosed_in(const LetterHead& head, const Letters::Cell& letter) {
  if (head.pipe != LetterHead::kEnclosed) return {};
  if (head.bytes > Letters::kMostBytes) {
    throw TransportError("a letter says that it encloses " + std::to_string(head.bytes) + " bytes");
  }
  return std::span(letter.bytes).first(head.bytes);
}

void HostPipes::keep(std::vector<Kept>& where, const LetterHead& head, std::span<const std::byte> enclosed) {
  Kept& kept = where.emplace_back(Kept{.head = head});
  if (!spare_.empty()) {
    kept.enclosed = std::move(spare_.back());
    spare_.pop_back();
  }
  kept.enclosed.assign(enclosed.begin(), enclosed.end());
}

void HostPipes::discard(std::vector<Kept>& where, std::size_t i) {
  constexpr std::size_t kMostSpare = 64;
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(where[i].enclosed));
  where.erase(where.begin() + static_cast<std::ptrdiff_t>(i));
}

}  // namespace papfft::comm
