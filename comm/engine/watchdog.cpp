// SPDX-License-Identifier: MIT
#include "comm/engine/watchdog.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "comm/engine/wait.hpp"
#include "comm/transport/tags.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kNoteBytes = 240;
/// The speaker stays this long, so that its verdict leaves before it ends the job.
constexpr milliseconds kLeave{100};

}  // namespace

/// What one stuck rank says to the others and hears from them.
class Watchdog::Council {
 public:
  Council(Transport& transport, const std::string& mine)
      : transport_(transport),
        size_(static_cast<std::size_t>(transport.size())),
        self_(static_cast<std::size_t>(transport.rank())),
        channel_(transport.open()),
        words_(std::make_shared<Words>(size_)) {
    channel_->keep(words_);  // messages may outlive this object
    mine.copy(words_->notes[self_].data(), kNoteBytes - 1);
    const int note = service_tag(transport.max_tag(), Service::stuck_note);
    const int verdict = service_tag(transport.max_tag(), Service::stuck_verdict);
    for (std::size_t r = 0; r < size_; ++r) {
      if (r == self_) continue;
      const auto other = static_cast<Rank>(r);
      (void)channel_->irecv(other, note, std::as_writable_bytes(std::span(words_->notes[r])));
      (void)channel_->irecv(other, verdict, std::as_writable_bytes(std::span(&words_->verdicts[r], 1)));
      (void)channel_->isend(other, note, std::as_bytes(std::span(words_->notes[self_])));
    }
  }

  void listen(milliseconds time, std::chrono::microseconds longest_nap) {
    Waiter waiter(WaitPolicy::nap, longest_nap, true);
    std::vector<int> ended;
    while (waiter.idle_for() < time) {
      channel_->poll(ended);
      waiter.pause();
    }
  }

  /// Nobody has spoken yet, and no lower rank that is stuck was heard of, which would.
  [[nodiscard]] bool must_speak() const {
    if (std::ranges::count(words_->verdicts, kSpoken) > 0) return false;
    return std::none_of(words_->notes.begin(), words_->notes.begin() + static_cast<std::ptrdiff_t>(self_),
                        is_note);
  }

  void tell_verdict() {
    words_->verdicts[self_] = kSpoken;
    for (std::size_t r = 0; r < size_; ++r) {
      if (r == self_) continue;
      (void)channel_->isend(static_cast<Rank>(r), service_tag(transport_.max_tag(), Service::stuck_verdict),
                            std::as_bytes(std::span(&words_->verdicts[self_], 1)));
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    std::string silent;
    for (std::size_t r = 0; r < size_; ++r) {
      if (is_note(words_->notes[r])) {
        text += std::string(words_->notes[r].data()) + "; ";
      } else {
        silent += (silent.empty() ? "" : ", ") + std::to_string(r);
      }
    }
    return text + (silent.empty() ? "all ranks are in a call" : "not in a stuck call: rank " + silent);
  }

 private:
  using Note = std::array<char, kNoteBytes>;  // the last character is 0
  static constexpr std::uint8_t kSpoken = 1;
  static bool is_note(const Note& note) { return note[0] != '\0'; }

  struct Words {
    explicit Words(std::size_t size) : notes(size), verdicts(size, 0) {}
    std::vector<Note> notes;
    std::vector<std::uint8_t> verdicts;
  };

  Transport& transport_;
  std::size_t size_;
  std::size_t self_;
  std::unique_ptr<Channel> channel_;
  std::shared_ptr<Words> words_;
};

Watchdog::Watchdog(Transport& transport, const Options& options) : transport_(transport), options_(options) {}
Watchdog::~Watchdog() = default;

void Watchdog::report(const std::string& mine) {
  council_ = std::make_unique<Council>(transport_, mine);
  council_->listen(std::clamp(options_.stuck_after / 2, milliseconds(200), milliseconds(2000)),
                   options_.longest_nap);
  const bool speaks = council_->must_speak();
  if (speaks) {
    council_->tell_verdict();
    council_->listen(kLeave, options_.longest_nap);
  }
  throw StuckError(
      "no progress for " + std::to_string(options_.stuck_after.count()) + " ms: " + council_->text(), speaks);
}

}  // namespace papfft::comm
