// SPDX-License-Identifier: MIT
#include "comm/engine/stuck_council.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "comm/engine/wait.hpp"
#include "comm/engine/wire_text.hpp"
#include "comm/transport/tags.hpp"

namespace papfft::comm {

namespace {
constexpr std::size_t kNoteBytes = 240;
}  // namespace

struct StuckCouncil::Words {
  explicit Words(std::size_t size) : notes(size), verdicts(size, 0) {}
  std::vector<std::array<char, kNoteBytes>> notes;
  std::vector<std::uint8_t> verdicts;  // that one comes is all that it says
};

StuckCouncil::StuckCouncil(Transport& transport, const std::string& mine)
    : transport_(transport),
      size_(static_cast<std::size_t>(transport.size())),
      self_(static_cast<std::size_t>(transport.rank())),
      channel_(transport.open()),
      words_(std::make_shared<Words>(size_)),
      noted_(size_),
      spoke_(size_) {
  channel_->keep(words_);  // messages may outlive this object
  mine.copy(words_->notes[self_].data(), kNoteBytes - 1);
  noted_[self_] = 1;
  const int note = service_tag(transport.max_tag(), Service::stuck_note);
  const int verdict = service_tag(transport.max_tag(), Service::stuck_verdict);
  for (std::size_t r = 0; r < size_; ++r) {
    if (r == self_) continue;
    const auto other = static_cast<Rank>(r);
    expect(channel_->irecv(other, note, std::as_writable_bytes(std::span(words_->notes[r]))), &noted_[r]);
    expect(channel_->irecv(other, verdict, std::as_writable_bytes(std::span(&words_->verdicts[r], 1))),
           &spoke_[r]);
    expect(channel_->isend(other, note, std::as_bytes(std::span(words_->notes[self_]))), nullptr);
  }
}

void StuckCouncil::expect(int ticket, std::uint8_t* came) {
  const auto t = static_cast<std::size_t>(ticket);
  if (came_.size() <= t) came_.resize(t + 1);
  came_[t] = came;
}

void StuckCouncil::listen(std::chrono::milliseconds time, std::chrono::microseconds longest_nap) {
  Waiter waiter(WaitPolicy::nap, longest_nap, true);
  std::vector<int> ended;
  while (true) {
    ended.clear();
    channel_->poll(ended);
    for (const int ticket : ended) {
      if (std::uint8_t* const came = came_[static_cast<std::size_t>(ticket)]; came != nullptr) *came = 1;
    }
    if (waiter.idle_for() >= time) return;
    waiter.pause();
  }
}

bool StuckCouncil::must_speak() const {
  return std::ranges::count(spoke_, 1) == 0 &&
         std::count(noted_.begin(), noted_.begin() + static_cast<std::ptrdiff_t>(self_), 1) == 0;
}

void StuckCouncil::tell_verdict() {
  const int tag = service_tag(transport_.max_tag(), Service::stuck_verdict);
  for (std::size_t r = 0; r < size_; ++r) {
    if (r == self_) continue;
    const auto word = std::as_bytes(std::span(&words_->verdicts[self_], 1));
    expect(channel_->isend(static_cast<Rank>(r), tag, word), nullptr);
  }
}

std::string StuckCouncil::text() const {
  std::string text;
  std::string silent;
  for (std::size_t r = 0; r < size_; ++r) {
    if (noted_[r] != 0) {
      text += wire_text(words_->notes[r]) + "; ";
    } else {
      silent += (silent.empty() ? "" : ", ") + std::to_string(r);
    }
  }
  return text + (silent.empty() ? "all ranks are in a call" : "not in a stuck call: rank " + silent);
}

}  // namespace papfft::comm
