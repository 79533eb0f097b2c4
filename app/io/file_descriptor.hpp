// SPDX-License-Identifier: MIT
#pragma once
#include <unistd.h>

#include <utility>

namespace papfft::app::io {

/// Owns a POSIX file descriptor. Closing here ignores errors: who must know whether close() failed calls close().
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { (void)close(); }

  [[nodiscard]] int get() const { return fd_; }
  /// @return what ::close returned (errno set), 0 when there was nothing to close.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 ? 0 : ::close(fd);
  }

 private:
  int fd_;
};

}  // namespace papfft::app::io
