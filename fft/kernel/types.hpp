// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "papfft/direction.hpp"

namespace papfft::fft {

/// Asks the kernel to back a large block by large pages: strides through long vectors touch a page per access, and small pages
/// are too many for the processor's tables. A hint; does nothing where there is no such thing.
void ask_for_huge_pages(void* data, std::size_t bytes) noexcept;

/// Owns `size()` elements at a cache line's boundary. Unlike std::vector it does not write to them first: large
/// buffers are then first touched by the threads that fill them. Move-only.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  static constexpr std::size_t kAlignmentBytes = 64;

  /// So many elements, and what is left of the last one's cache line.
  [[nodiscard]] static constexpr std::size_t whole_lines(std::size_t elements) noexcept {
    constexpr std::size_t kLine = kAlignmentBytes / sizeof(T);
    return (elements + kLine - 1) / kLine * kLine;
  }
  /// A cache line more than that, for parts of a buffer: a power of two apart they would compete for the same cache sets.
  [[nodiscard]] static constexpr std::size_t apart(std::size_t elements) noexcept {
    return whole_lines(elements) + kAlignmentBytes / sizeof(T);
  }

  Buffer() = default;
  /// @throws std::bad_alloc, std::bad_array_new_length
  explicit Buffer(std::size_t size) : data_(allocate(size)), size_(size) {}

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }

 private:
  struct Free {
    void operator()(T* p) const noexcept { ::operator delete (p, std::align_val_t{kAlignmentBytes}); }
  };

  static T* allocate(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    void* const data = ::operator new (size * sizeof(T), std::align_val_t{kAlignmentBytes});
    ask_for_huge_pages(data, size * sizeof(T));
    return static_cast<T*>(data);
  }

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace papfft::fft
