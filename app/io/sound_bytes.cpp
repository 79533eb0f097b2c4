// SPDX-License-Identifier: MIT
#include "app/io/sound_bytes.hpp"

#include <cstdio>
#include <utility>

namespace papfft::app::io {

template <typename Work>
sf_count_t SoundBytes::move(const Work& work) {
  try {
    const auto done = static_cast<sf_count_t>(work(static_cast<std::uint64_t>(position_)));
    position_ += done;
    return done;
  } catch (...) {
    error_ = std::current_exception();
    return 0;
  }
}

SoundFile SoundBytes::open(int mode, SF_INFO& info) {
  static constexpr auto of = [](void* self) -> SoundBytes& { return *static_cast<SoundBytes*>(self); };
  SF_VIRTUAL_IO calls = {
      .get_filelen = [](void* self) { return static_cast<sf_count_t>(of(self).size()); },
      .seek = [](sf_count_t offset, int whence, void* self) { return of(self).seek(offset, whence); },
      .read = [](void* out, sf_count_t bytes, void* self) -> sf_count_t {
        if (bytes <= 0) return 0;
        const std::span<std::byte> to(static_cast<std::byte*>(out), static_cast<std::size_t>(bytes));
        return of(self).move([&](std::uint64_t offset) { return of(self).read_at(offset, to); });
      },
      .write = [](const void* data, sf_count_t bytes, void* self) -> sf_count_t {
        if (bytes <= 0) return 0;
        const std::span<const std::byte> from(static_cast<const std::byte*>(data),
                                              static_cast<std::size_t>(bytes));
        return of(self).move([&](std::uint64_t offset) { return of(self).write_at(offset, from); });
      },
      .tell = [](void* self) { return of(self).position_; }};
  SoundFile file(sf_open_virtual(&calls, mode, &info, this));
  rethrow();
  return file;
}

void SoundBytes::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

sf_count_t SoundBytes::seek(sf_count_t offset, int whence) {
  const sf_count_t base = whence == SEEK_SET   ? 0
                          : whence == SEEK_CUR ? position_
                                               : static_cast<sf_count_t>(size());
  sf_count_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return -1;
  return position_ = target;
}

}  // namespace papfft::app::io
