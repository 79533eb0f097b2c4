// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/errors.hpp"
#include "app/io/file_descriptor.hpp"

namespace papfft::app::io {

struct PendingTemporary;

/// An output file that appears under its name only when complete. Bytes go to a temporary file in the same folder, without a
/// name where the file system can do that, which commit() renames; a destructor without commit() removes it and leaves what was
/// there before. The new file has the
/// permissions of the one it replaces, or the umask's. A symbolic link is followed, not replaced.
/// "-", /dev/stdout, /dev/fd/N, pipes and devices are written directly: what was written stays written.
///
/// Signals are the program's: one that ends the process runs no destructor, so its handler should call
/// unlink_pending_temporaries(). SIGPIPE and SIGXFSZ must be ignored for a closed pipe or a size limit to become an OutputError.
class AtomicFile {
 public:
  /// kept: grows under PATH.partial, which stays where it is without a commit(), and is gone on with when it is there; by one
  /// process at a time.
  enum class Temporary : std::uint8_t { nameless_if_possible, named, kept };
  /// @throws OutputError when the file cannot be created.
  explicit AtomicFile(const std::string& path, Temporary temporary = Temporary::nameless_if_possible);
  /// The named temporary file of another process's AtomicFile: write_at() writes to it as well, and commit() sees to it that what was
  /// written is on the disk. Its maker makes it appear, or removes it.
  /// @throws OutputError  there is no such file here
  [[nodiscard]] static std::unique_ptr<AtomicFile> join(const std::string& path,
                                                        const std::string& temporary);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Unbuffered: hand over large pieces. @throws OutputError when any byte could not be written (disk full, closed pipe).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Over what was written before. @throws OutputError  also if written directly
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t size() const;
  /// The name under which the file is written; empty: it has none.
  [[nodiscard]] std::string temporary() const;
  /// What comes next is written from there on.
  void truncate(std::uint64_t size);
  /// Returns when all that was written is on the disk, and so is a name that stays without a commit(). @throws OutputError
  void sync();
  /// A pipe, a device or standard output: what was written stays written.
  [[nodiscard]] bool is_direct() const { return target_.empty(); }
  /// Makes the file appear, on the disk. Nothing may be written after. @throws OutputError, the old file left as it was, unless the disk
  /// fails at the very last step
  void commit();

 private:
  AtomicFile() = default;
  [[noreturn]] void fail(int error) const;
  void create_temporary(Temporary kind);
  /// @param make  makes the file under a name that may be taken; returns 0 or errno
  template <typename Make>
  void name_temporary(Make make);
  void release_slot() noexcept;
  /// Brings the names in the target's folder to the disk.
  void sync_folder() const;

  std::string path_;    // as the user gave it
  std::string target_;  // what commit() renames to; empty: written directly
  PendingTemporary* temporary_ = nullptr;
  bool is_nameless_ = false;
  FileDescriptor fd_;
};

/// Says before long work whether AtomicFile(path) can be expected to succeed. @throws OutputError when the folder is missing
/// or not writable, or `path` is a folder or a read-only file.
void check_writable(const std::string& path);

/// Whether what goes to `path` goes to this process's standard output.
[[nodiscard]] bool is_standard_output(const std::string& path);

/// Of the files of one job each must be another, or the last would replace those before; so must what goes to standard
/// output be one thing. Other devices and pipes may take several. @throws OutputError
void require_distinct(const std::vector<std::string>& paths);

/// Removes the temporary files of every AtomicFile not yet committed, before the process ends. Another thread that commits one of them, or
/// makes another, waits for that end: it has nothing to report, and must leave nothing. Async-signal-safe.
void unlink_pending_temporaries() noexcept;

}  // namespace papfft::app::io
