// SPDX-License-Identifier: MIT
#include "comm/engine/watchdog.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
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

  void listen(milliseconds time, std::chrono::microseconds longest_nap) {
    Waiter waiter(WaitPolicy::nap, longest_nap, true);
    std::vector<int> ended;
    while (waiter.idle_for() < time) {
      ended.clear();
      channel_->poll(ended);
      for (const int ticket : ended) {
        if (std::uint8_t* const came = came_[static_cast<std::size_t>(ticket)]; came != nullptr) *came = 1;
      }
      waiter.pause();
    }
  }

  /// Nobody has spoken yet, and no lower rank that is stuck was heard of, which would.
  [[nodiscard]] bool must_speak() const {
    return std::ranges::count(spoke_, 1) == 0 &&
           std::count(noted_.begin(), noted_.begin() + static_cast<std::ptrdiff_t>(self_), 1) == 0;
  }

  void tell_verdict() {
    for (std::size_t r = 0; r < size_; ++r) {
      if (r == self_) continue;
      const int tag = service_tag(transport_.max_tag(), Service::stuck_verdict);
      const auto word = std::as_bytes(std::span(&words_->verdicts[self_], 1));
      expect(channel_->isend(static_cast<Rank>(r), tag, word), nullptr);
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    std::string silent;
    for (std::size_t r = 0; r < size_; ++r) {
      if (noted_[r] != 0) {
        text += std::string(words_->notes[r].data()) + "; ";
      } else {
        silent += (silent.empty() ? "" : ", ") + std::to_string(r);
      }
    }
    return text + (silent.empty() ? "all ranks are in a call" : "not in a stuck call: rank " + silent);
  }

 private:
  using Note = std::array<char, kNoteBytes>;  // the last character is 0

  /// @param came  becomes 1 when the message has ended: what it brings may not be looked at before
  void expect(int ticket, std::uint8_t* came) {
    const auto t = static_cast<std::size_t>(ticket);
    if (came_.size() <= t) came_.resize(t + 1);
    came_[t] = came;
  }

  struct Words {
    explicit Words(std::size_t size) : notes(size), verdicts(size, 0) {}
    std::vector<Note> notes;
    std::vector<std::uint8_t> verdicts;  // that one comes is all that it says
  };

  Transport& transport_;
  std::size_t size_;
  std::size_t self_;
  std::unique_ptr<Channel> channel_;
  std::shared_ptr<Words> words_;
  std::vector<std::uint8_t> noted_;  // per rank: its note has come
  std::vector<std::uint8_t> spoke_;  // per rank: its verdict has come
  std::vector<std::uint8_t*> came_;  // by ticket: which of these it is, or nullptr
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
      "no progress for " + std::to_string(options_.stuck_after.count()) + " ms: " + council_->text(), speaks,
      mine);
}

}  // namespace papfft::comm
