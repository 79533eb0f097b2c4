// SPDX-License-Identifier: MIT
#include "fft/engines/shared_transform.hpp"

#include <stdexcept>
#include <utility>

namespace papfft::fft {

namespace {

void require(bool fits) {
  if (!fits) throw std::logic_error("a parallel transform was given another kind of data than planned");
}

}  // namespace

bool can_share(std::size_t length, bool real, int ranks) {
  const auto parts = static_cast<std::size_t>(ranks);
  return length > 0 && (real ? can_split_real(length, parts) : length % parts == 0);
}

template <typename T>
SharedTransform<T>::SharedTransform(const ParallelPlan& plan, int rank, int ranks)
    : real_(plan.real),
      forward_(plan.direction == Direction::forward),
      parts_(static_cast<std::size_t>(ranks)) {
  if (!can_share(plan.length, plan.real, ranks)) {
    throw std::invalid_argument("a transform of length " + std::to_string(plan.length) +
                                " cannot be shared by " + std::to_string(parts_) + " ranks");
  }
  block_length_ = plan.length / parts_ / (real_ ? 2 : 1);
  if (rank == 0) {
    if (!real_) split_.emplace(plan.length, parts_, plan.direction);
    if (real_ && forward_) real_split_.emplace(plan.length, parts_);
    if (real_ && !forward_) real_merge_.emplace(plan.length, parts_);
  }
  LocalFft<T> local = plan.local_kernel
                          ? LocalFft<T>(block_length_, plan.direction, *plan.local_kernel, plan.rigor)
                          : LocalFft<T>(block_length_, plan.direction, plan.rigor);
  if (real_ && rank == 0) {
    packed_.emplace(std::move(local), plan.direction);
  } else {
    local_.emplace(std::move(local));
  }
}

template <typename T>
void SharedTransform<T>::split(const Complex* in, Blocks blocks) const {
  require(split_ || real_merge_);
  if (split_) {
    split_->run(in, blocks, 0, block_length_);
  } else {
    distribute_half_spectrum<T>(in, blocks, block_length_);
  }
}

template <typename T>
void SharedTransform<T>::split(const T* in, Blocks blocks) const {
  require(real_split_.has_value());
  real_split_->run(in, blocks, 0, block_length_);
}

template <typename T>
void SharedTransform<T>::assemble(ConstBlocks blocks, Complex* out) const {
  require(split_ || real_split_);
  if (split_) {
    interleave<T>(blocks, block_length_, out);
  } else {
    assemble_half_spectrum<T>(blocks, block_length_, out);
  }
}

template <typename T>
void SharedTransform<T>::assemble(ConstBlocks blocks, T* out) const {
  require(real_merge_.has_value());
  real_merge_->run(blocks, out, 0, block_length_);
}

template <typename T>
void SharedTransform<T>::compute(const Complex* in, Complex* out, ParallelObserver* observer) {
  Progress progress;
  if (observer != nullptr) {
    observer->compute_begins();
    progress = [observer](double fraction) { observer->compute_reaches(fraction); };
  }
  if (packed_) {
    packed_->execute(in, out, progress);
  } else {
    local_->execute(in, out, 1, progress);
  }
  if (observer != nullptr) observer->compute_ends();
}

template class SharedTransform<float>;
template class SharedTransform<double>;

}  // namespace papfft::fft
