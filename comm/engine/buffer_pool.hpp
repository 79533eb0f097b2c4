// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace papfft::comm {

/// Buffers of one size at cache lines' boundaries, long ones on large pages; as many as are lent at a time. What was given
/// back last is lent first: it may still be in the caches, and its pages have been touched.
class BufferPool {
 public:
  explicit BufferPool(std::size_t bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Not zeroed. @throws std::bad_alloc
  [[nodiscard]] std::byte* lend();
  void give_back(std::byte* buffer) { free_.push_back(buffer); }
  /// That there are, lent or not.
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kLargePage = std::size_t{2} << 20U;

  struct Free {
    std::size_t alignment = kLine;
    void operator()(std::byte* p) const noexcept { ::operator delete (p, std::align_val_t{alignment}); }
  };

  std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte, Free>> all_;
  std::vector<std::byte*> free_;
};

}  // namespace papfft::comm
