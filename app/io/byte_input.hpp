// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace papfft::app::io {

/// Bytes of a file, a pipe or memory. What reads a format reads from this, so that tests and fuzzers need no files.
class ByteInput {
 public:
  explicit ByteInput(std::string name) : name_(std::move(name)) {}
  virtual ~ByteInput() = default;
  ByteInput(const ByteInput&) = delete;
  ByteInput& operator=(const ByteInput&) = delete;

  /// For messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Total bytes; nothing for a pipe, which must be read in order.
  [[nodiscard]] virtual std::optional<std::uint64_t> size_bytes() const = 0;
  /// Fills `out` from byte `offset` on. Files and memory may be read by several threads at once.
  /// @return bytes read, fewer than out.size() only at the end. @throws DataError when reading fails;
  /// std::logic_error when a pipe is read out of order before its end (its first head_bytes may be read again until reading passes them).
  [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) = 0;

  /// Ends the input here and now, from any thread: a read that waits for a pipe returns what it has, later ones nothing.
  /// Files and memory never wait, and take no notice.
  virtual void give_up() noexcept {}
  [[nodiscard]] virtual bool given_up() const noexcept { return false; }

  static constexpr std::size_t head_bytes = 16;

 private:
  std::string name_;
};

/// Opens a file for reading; "-" is standard input. Anything that is not a regular file is read as a pipe.
/// @throws DataError when it is missing, unreadable, a directory, or an empty file.
[[nodiscard]] std::unique_ptr<ByteInput> open_bytes(const std::string& path);

/// Bytes in memory, named for messages.
[[nodiscard]] std::unique_ptr<ByteInput> memory_bytes(std::string name, std::vector<std::byte> bytes);

/// Everything from `offset` to the end. Memory grows with what is really there.
/// @throws DataError when more than `most_bytes` are left.
[[nodiscard]] std::vector<std::byte> read_rest(ByteInput& input, std::uint64_t offset,
                                               std::uint64_t most_bytes);

}  // namespace papfft::app::io
