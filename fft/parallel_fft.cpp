// SPDX-License-Identifier: MIT
#include "fft/parallel_fft.hpp"

#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papfft::fft {

namespace {

/// Adds the time of its own life to a sum.
class Timer {
 public:
  explicit Timer(double& sum_s) : sum_s_(sum_s) {}
  ~Timer() { sum_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& sum_s_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <typename Pointer>
std::vector<Pointer> block_pointers(Pointer first, std::size_t parts, std::size_t block_length) {
  std::vector<Pointer> blocks(parts);
  for (std::size_t r = 0; r < parts; ++r) blocks[r] = first + r * block_length;
  return blocks;
}

}  // namespace

bool can_share(std::size_t length, bool real, int ranks) {
  const auto parts = static_cast<std::size_t>(ranks);
  return length > 0 && (real ? can_split_real(length, parts) : length % parts == 0);
}

template <typename T>
ParallelFft<T>::ParallelFft(comm::Collectives& comm, ParallelPlan plan)
    : comm_(comm),
      plan_(std::move(plan)),
      parts_(static_cast<std::size_t>(comm.size())),
      root_(comm.rank() == 0) {
  if (!can_share(plan_.length, plan_.real, comm.size())) {
    throw std::invalid_argument("a transform of length " + std::to_string(plan_.length) +
                                " cannot be shared by " + std::to_string(parts_) + " ranks");
  }
  block_length_ = plan_.length / parts_ / (plan_.real ? 2 : 1);
  const bool forward = plan_.direction == Direction::forward;
  if (root_) {
    if (!plan_.real) split_.emplace(plan_.length, parts_, plan_.direction);
    if (plan_.real && forward) real_split_.emplace(plan_.length, parts_);
    if (plan_.real && !forward) real_merge_.emplace(plan_.length, parts_);
    whole_ = Buffer<Complex>(parts_ * block_length_);
  }
  if (plan_.real && root_) {
    packed_.emplace(block_length_, plan_.direction, plan_.rigor);
  } else {
    local_.emplace(block_length_, plan_.direction, plan_.rigor);
  }
  block_ = Buffer<Complex>(block_length_);
}

template <typename T>
void ParallelFft<T>::require(bool real, std::optional<Direction> direction) const {
  if (plan_.real != real || (direction && plan_.direction != *direction)) {
    throw std::logic_error("ParallelFft: executed with another kind of data than planned");
  }
}

template <typename T>
void ParallelFft<T>::execute(const Complex* in, Complex* out) {
  require(false, std::nullopt);
  run([&](std::span<Complex* const> blocks) { split_->run(in, blocks, 0, block_length_); },
      [&](std::span<const Complex* const> blocks) { interleave<T>(blocks, block_length_, out); });
}

template <typename T>
void ParallelFft<T>::execute(const T* in, Complex* half_spectrum) {
  require(true, Direction::forward);
  run([&](std::span<Complex* const> blocks) { real_split_->run(in, blocks, 0, block_length_); },
      [&](std::span<const Complex* const> blocks) {
        assemble_half_spectrum<T>(blocks, block_length_, half_spectrum);
      });
}

template <typename T>
void ParallelFft<T>::execute(const Complex* half_spectrum, T* out) {
  require(true, Direction::inverse);
  run(
      [&](std::span<Complex* const> blocks) {
        distribute_half_spectrum<T>(half_spectrum, blocks, block_length_);
      },
      [&](std::span<const Complex* const> blocks) { real_merge_->run(blocks, out, 0, block_length_); });
}

template <typename T>
template <typename SplitStep, typename AssembleStep>
void ParallelFft<T>::run(SplitStep split, AssembleStep assemble) {
  const std::uint64_t block_bytes = block_length_ * sizeof(Complex);
  if (root_) {
    const Timer timer(times_.split_s);
    split(block_pointers(whole_.data(), parts_, block_length_));
  }
  {
    const Timer timer(times_.scatter_s);
    comm_.scatter<Complex>(std::span<const Complex>(whole_.data(), whole_.size()),
                           std::span(block_.data(), block_length_), 0, plan_.scatter);
    times_.bytes_scattered += root_ ? (parts_ - 1) * block_bytes : 0;
  }
  {
    const Timer timer(times_.compute_s);
    Progress progress;
    if (observer_ != nullptr) {
      observer_->compute_begins();
      progress = [this](double fraction) { observer_->compute_reaches(fraction); };
    }
    if (packed_) {
      packed_->execute(block_.data(), block_.data(), progress);
    } else {
      local_->execute(block_.data(), block_.data(), 1, progress);
    }
    if (observer_ != nullptr) observer_->compute_ends();
  }
  {
    const Timer timer(times_.gather_s);
    comm_.gather<Complex>(std::span<const Complex>(block_.data(), block_length_),
                          std::span(whole_.data(), whole_.size()), 0, plan_.gather);
    times_.bytes_gathered += root_ ? (parts_ - 1) * block_bytes : 0;
    if (observer_ != nullptr) observer_->gather_ends();
  }
  if (root_) {
    const Timer timer(times_.assemble_s);
    assemble(block_pointers<const Complex*>(whole_.data(), parts_, block_length_));
  }
}

template class ParallelFft<float>;
template class ParallelFft<double>;

}  // namespace papfft::fft
