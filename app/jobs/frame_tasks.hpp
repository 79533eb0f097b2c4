// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "app/io/errors.hpp"
#include "app/io/source.hpp"
#include "app/jobs/row_reader.hpp"
#include "comm/engine/farm.hpp"
#include "fft/spectral/spectrogram.hpp"

namespace papfft::app {

/// How many frames a task of a farm has, and the samples that they span.
struct TaskShape {
  std::size_t nperseg = 1;
  std::size_t noverlap = 0;
  std::size_t frames = 1;

  /// @param sample_bytes  of one sample; a task has about a quarter of a MiB of new ones
  static TaskShape of(std::size_t nperseg, std::size_t noverlap, std::size_t sample_bytes) {
    constexpr std::size_t kTaskBytes = std::size_t{1} << 18;
    return {nperseg, noverlap, std::max<std::size_t>(1, kTaskBytes / ((nperseg - noverlap) * sample_bytes))};
  }
  [[nodiscard]] std::size_t hop() const { return nperseg - noverlap; }
  [[nodiscard]] std::size_t samples() const { return (frames - 1) * hop() + nperseg; }
};

/// The frames of an input that may be endless, cut into tasks for a farm. It lives at the root.
template <typename Sample>
class FrameTasks {
 public:
  using Feed = comm::Farm::Feed;

  FrameTasks(std::shared_ptr<io::Source> input, const TaskShape& shape)
      : input_(std::move(input)), shape_(shape), reader_(input_, shape.frames * shape.hop(), 0) {}

  /// Puts the samples of the next frames into `task`; behind the last frame are zeros.
  Feed fill(std::span<std::byte> task) {
    while (waiting_.size() < shape_.samples() && !ended_) {
      if (!read_more()) return Feed::later;
    }
    const std::size_t frames =
        std::min(shape_.frames, fft::Framing{waiting_.size(), shape_.nperseg, shape_.noverlap}.frames());
    if (frames == 0) return Feed::end;
    std::ranges::fill(task, std::byte{0});
    std::memcpy(task.data(), waiting_.data(), std::min(shape_.samples(), waiting_.size()) * sizeof(Sample));
    const std::size_t used = std::min(frames * shape_.hop(), waiting_.size());
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(used));
    under_way_.push_back(frames);
    return Feed::task;
  }

  /// The oldest task under way is done. @return its frames
  std::size_t done() {
    const std::size_t frames = under_way_.front();
    under_way_.pop_front();
    frames_ += frames;
    return frames;
  }

  [[nodiscard]] std::uint64_t frames_done() const { return frames_; }
  [[nodiscard]] std::uint64_t samples_read() const { return samples_; }
  [[nodiscard]] std::uint64_t non_finite() const { return reader_.non_finite(); }
  /// The input was given up (io::Source::give_up) and has ended for that reason.
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  /// Why the input could not be read to its end; what came before counts.
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }

 private:
  /// @return false: nothing has come yet
  bool read_more() {
    typename RowReader<Sample>::Next next;
    try {
      next = reader_.next();
    } catch (const io::DataError&) {
      failure_ = std::current_exception();
    }
    if (next.state == RowReader<Sample>::State::later) return false;
    ended_ = next.state == RowReader<Sample>::State::end;
    stopped_ = ended_ && input_->given_up();
    const std::span<const Sample> more =
        ended_ ? reader_.left_over() : std::span(next.row, shape_.frames * shape_.hop());
    waiting_.insert(waiting_.end(), more.begin(), more.end());
    samples_ += more.size();
    return true;
  }

  std::shared_ptr<io::Source> input_;
  TaskShape shape_;
  RowReader<Sample> reader_;
  std::vector<Sample> waiting_;        // samples of frames that are in no task yet
  std::deque<std::size_t> under_way_;  // frames of each task
  std::uint64_t frames_ = 0;
  std::uint64_t samples_ = 0;
  bool ended_ = false;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace papfft::app
