// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

  /// Vectors, with those that were in the files before.
  [[nodiscard]] std::uint64_t done() const { return done_; }

  void take(const Sample* vector) {
    if (files_ != nullptr) {
      files_->write(vector);
    } else {
      std::copy_n(vector, length_, place());
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
    if (files_ == nullptr) {
      samples_.resize(length_ * done_);
    } else if (resumable) {
      files_->flush();
    } else {
      files_->finish();
    }
  }

  /// All results; nothing if they went to files.
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  /// nullptr: results go to memory
  [[nodiscard]] io::RowFiles<Sample>* files() { return files_.get(); }

 private:
  [[nodiscard]] Sample* place() { return samples_.data() + done_ * length_; }

  std::uint64_t length_;
  std::vector<Sample> samples_;
  std::unique_ptr<io::RowFiles<Sample>> files_;
  std::uint64_t done_ = 0;
  std::optional<RowWriter<Sample>> writer_;
};

}  // namespace papfft::app
