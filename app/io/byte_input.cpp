// SPDX-License-Identifier: MIT
#include "app/io/byte_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "app/io/errors.hpp"
#include "app/io/file_descriptor.hpp"
#include "app/io/known_inputs.hpp"

namespace papfft::app::io {
namespace {

// Calls read_some(done) until `wanted` bytes have come or it says that the end is reached.
template <typename ReadSome>
std::size_t read_fully(const std::string& name, std::size_t wanted, const ReadSome& read_some) {
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t got = read_some(done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError(name, fmt::format("cannot be read: {}", errno_text(errno)));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

class FileInput final : public ByteInput {
 public:
  FileInput(std::string name, FileDescriptor fd, std::uint64_t size_bytes)
      : ByteInput(std::move(name)), fd_(std::move(fd)), size_bytes_(size_bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> size_bytes() const override { return size_bytes_; }
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset >= size_bytes_) return 0;
    return read_fully(name(), out.size(), [&](std::size_t done) {
      return ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    });
  }

 private:
  FileDescriptor fd_;
  std::uint64_t size_bytes_;
};

class PipeInput final : public ByteInput {
 public:
  PipeInput(std::string name, FileDescriptor fd) : ByteInput(std::move(name)), fd_(std::move(fd)) {
    head_.resize(read_on(std::span(head_)));
  }

  [[nodiscard]] std::optional<std::uint64_t> size_bytes() const override { return std::nullopt; }
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    std::size_t done = 0;
    if (offset < head_.size()) {
      done = std::min<std::size_t>(out.size(), head_.size() - offset);
      std::memcpy(out.data(), head_.data() + offset, done);
    }
    // At its end, and given up, it has no order any more: what it had read of a torn sample is behind the last position told.
    if (done == out.size() || given_up_ || ended_) return done;
    if (offset + done != position_) throw std::logic_error(name() + ": a pipe can only be read in order");
    return done + read_on(out.subspan(done));
  }
  void give_up() noexcept override {
    given_up_ = true;
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }
  [[nodiscard]] bool given_up() const noexcept override { return given_up_; }

 private:
  std::size_t read_on(std::span<std::byte> out) {
    const std::size_t got = read_fully(name(), out.size(), [&](std::size_t done) {
      wait_for_more();
      return given_up_ ? 0 : ::read(fd_.get(), out.data() + done, out.size() - done);
    });
    position_ += got;
    ended_ = got < out.size() && !given_up_;
    return got;
  }

  // Whatever is wrong with the descriptor, read() says what.
  void wait_for_more() {
    std::array<pollfd, 2> either = {{{fd_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    while (!given_up_ && ::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
    }
  }

  FileDescriptor fd_;
  FileDescriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> given_up_ = false;
  bool ended_ = false;
  std::uint64_t position_ = 0;
  std::vector<std::byte> head_ = std::vector<std::byte>(head_bytes);
};

class MemoryInput final : public ByteInput {
 public:
  MemoryInput(std::string name, std::vector<std::byte> bytes)
      : ByteInput(std::move(name)), bytes_(std::move(bytes)) {}

  [[nodiscard]] std::optional<std::uint64_t> size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset >= bytes_.size() || out.empty()) return 0;
    const std::size_t count = std::min<std::size_t>(out.size(), bytes_.size() - offset);
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<ByteInput> open_bytes(const std::string& path) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "standard input" : path;
  FileDescriptor fd(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                   : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) {
    throw DataError(name, fmt::format("cannot be opened: {}", errno_text(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw DataError(name, "is a directory; name a file in it");
  if (!standard_input) know_input(status);
  if (standard_input || !S_ISREG(status.st_mode)) return std::make_unique<PipeInput>(name, std::move(fd));
  if (status.st_size == 0) throw DataError(name, "is empty");
  return std::make_unique<FileInput>(name, std::move(fd), static_cast<std::uint64_t>(status.st_size));
}

std::unique_ptr<ByteInput> memory_bytes(std::string name, std::vector<std::byte> bytes) {
  return std::make_unique<MemoryInput>(std::move(name), std::move(bytes));
}

std::vector<std::byte> read_rest(ByteInput& input, std::uint64_t offset, std::uint64_t most_bytes) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  for (std::size_t got = kBlockBytes; got == kBlockBytes;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kBlockBytes);
    got = input.read_at(offset + before, std::span(bytes).subspan(before));
    bytes.resize(before + got);
    if (bytes.size() > most_bytes) {
      throw DataError(input.name(), fmt::format("is larger than the {} bytes allowed here", most_bytes));
    }
  }
  return bytes;
}

}  // namespace papfft::app::io
