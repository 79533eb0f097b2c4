// SPDX-License-Identifier: MIT
#pragma once
#include <sndfile.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>

namespace papfft::app::io {

struct SoundCloser {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using SoundFile = std::unique_ptr<SNDFILE, SoundCloser>;

/// What libsndfile reads or writes in place of a file. Exceptions must not cross its C frames, so they wait here.
class SoundBytes {
 public:
  SoundBytes() = default;
  virtual ~SoundBytes() = default;
  SoundBytes(const SoundBytes&) = delete;
  SoundBytes& operator=(const SoundBytes&) = delete;

  /// @param mode  SFM_READ or SFM_WRITE. @return nullptr: sf_strerror(nullptr) says why; these bytes must outlive it
  /// @throws what read_at() or write_at() threw
  [[nodiscard]] SoundFile open(int mode, SF_INFO& info);
  /// After each call of libsndfile. @throws what read_at() or write_at() threw meanwhile
  void rethrow();

 protected:
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// @return how many bytes there were, or were written; by default none
  virtual std::size_t read_at(std::uint64_t /*offset*/, std::span<std::byte> /*out*/) { return 0; }
  virtual std::size_t write_at(std::uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) { return 0; }

 private:
  sf_count_t seek(sf_count_t offset, int whence);
  /// Moves on by what work(offset) has done; 0 if it throws.
  template <typename Work>
  sf_count_t move(const Work& work);

  sf_count_t position_ = 0;
  std::exception_ptr error_;
};

}  // namespace papfft::app::io
