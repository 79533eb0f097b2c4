// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "app/io/row_files.hpp"
#include "app/jobs/row_writer.hpp"

namespace papfft::app {

/// Where the results of vectors go, one after another: to memory, or to files that grow. It lives at the root.
template <typename Sample>
class VectorSink {
 public:
  VectorSink(std::uint64_t length, std::uint64_t rows) : length_(length), samples_(length * rows) {}
  /// Into memory that may hold the vectors until then: a result takes its vector's place.
  VectorSink(std::uint64_t length, std::vector<Sample> room) : length_(length), samples_(std::move(room)) {}
  VectorSink(std::uint64_t length, std::unique_ptr<io::RowFiles<Sample>> files)
      : length_(length), files_(std::move(files)), done_(files_->rows_before()) {}

  /// Results are multiplied by this from now on.
  void scale_by(double factor) { factor_ = static_cast<Real>(factor); }

  /// Vectors, with those that were in the files before.
  [[nodiscard]] std::uint64_t done() const { return done_; }

  void take(const Sample* vector) {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;  // from outside: the job is about to end
    if (files_ != nullptr && factor_ == 1) {
      files_->write(vector);
    } else if (files_ != nullptr) {
      scaled_.assign(vector, vector + length_);
      scale(scaled_.data(), 1);
      files_->write(scaled_.data());
    } else {
      std::copy_n(vector, length_, place());
      scale(place(), 1);
    }
    ++done_;
  }

  /// For who computes where the result shall be: files are then written by a thread. @param longest_run  vectors at a time
  void write_behind(std::size_t longest_run) {
    if (files_ != nullptr) writer_.emplace(*files_, length_, longest_run);
  }
  /// Room for the next run of vectors, to be passed when they are there.
  [[nodiscard]] Sample* room() { return writer_ ? writer_->room() : place(); }
  void pass(std::size_t vectors) {
    scale(room(), vectors);
    if (writer_) writer_->pass(vectors);
    done_ += vectors;
  }
  /// Until all that was passed is written. @throws io::OutputError
  void drain() {
    if (writer_) writer_->finish();
    writer_.reset();
  }

  /// When no more come. @param resumable  the files stay as they are, to be gone on with
  void finish(bool resumable) {
    drain();
    const std::lock_guard lock(mutex_);
    write_out(resumable);
  }
  /// The same for files by another thread, while the one that takes results may be stuck elsewhere. @return false: there is nothing to be
  /// kept, or it is kept already
  [[nodiscard]] bool finish_from_outside(bool resumable) {
    const std::lock_guard lock(mutex_);
    if (files_ == nullptr || writer_ || done_ == 0 || is_finished_) return false;
    write_out(resumable);
    return true;
  }

  /// All results; nothing if they went to files.
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  /// nullptr: results go to memory
  [[nodiscard]] io::RowFiles<Sample>* files() { return files_.get(); }

 private:
  using Real = decltype(std::abs(Sample{}));

  void write_out(bool resumable) {
    is_finished_ = true;
    if (files_ == nullptr) {
      samples_.resize(length_ * done_);
    } else if (resumable) {
      files_->flush();
    } else {
      files_->finish();
    }
  }

  void scale(Sample* first, std::size_t vectors) const {
    if (factor_ == 1) return;
    std::for_each(first, first + vectors * length_, [this](Sample& x) { x *= factor_; });
  }
  [[nodiscard]] Sample* place() { return samples_.data() + done_ * length_; }

  std::mutex mutex_;  // of what may be finished from outside
  bool is_finished_ = false;
  std::uint64_t length_;
  std::vector<Sample> samples_;
  std::unique_ptr<io::RowFiles<Sample>> files_;
  std::uint64_t done_ = 0;
  Real factor_ = 1;
  std::vector<Sample> scaled_;  // one result on its way to the files
  std::optional<RowWriter<Sample>> writer_;
};

}  // namespace papfft::app
