// SPDX-License-Identifier: MIT
#include "app/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>

#include "app/io/known_inputs.hpp"

namespace papfft::app::io {

// A slot of the registry that signal handlers read: `path` changes only while the slot is owned, and is valid while it is armed.
struct PendingTemporary {
  enum State { unused, owned, armed };
  std::atomic<int> state = unused;
  std::array<char, PATH_MAX> path{};
};

namespace {

static_assert(std::atomic<int>::is_always_lock_free, "signal handlers read it");
constinit std::array<PendingTemporary, 32> pending_temporaries;
constinit std::atomic<int> all_given_up = 0;  // they have been removed, and the process is about to end

/// Another thread ends the process, and has said why.
[[noreturn]] void wait_for_end() {
  while (true) ::pause();
}

// Descriptors that a path stands for. Opening such a path anew would lose the offset of a redirected (>>) output.
std::optional<int> descriptor_named(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    int fd = -1;
    const char* const end = path.data() + path.size();
    const auto parsed = std::from_chars(path.data() + prefix.size(), end, fd);
    if (parsed.ec == std::errc() && parsed.ptr == end && fd >= 0) return fd;
  }
  return std::nullopt;
}

// The file that a symbolic link leads to, be it there or not; absolute, so that a later chdir() does no harm.
std::filesystem::path resolved(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as Linux follows
  std::error_code error;
  fs::path target = fs::absolute(path);
  for (int links = 0; links < kMostLinks && fs::is_symlink(target, error); ++links) {
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  const fs::path whole = fs::weakly_canonical(target, error);
  return error ? target : whole;
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

void require_access(const std::string& file, const std::string& path, int mode) {
  if (::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0) return;
  const int error = errno;
  throw OutputError(file, path == file ? errno_text(error) : fmt::format("{}: {}", path, errno_text(error)));
}

PendingTemporary& claim_slot(const std::string& file) {
  for (PendingTemporary& slot : pending_temporaries) {
    int expected = PendingTemporary::unused;
    if (slot.state.compare_exchange_strong(expected, PendingTemporary::owned)) return slot;
  }
  throw OutputError(file, fmt::format("more than {} output files at once", pending_temporaries.size()));
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) throw UnsuitableOutput("output", "its name is empty");
  if (descriptor_named(path)) return;
  require_no_input(path);
  const auto status = status_of(path);
  if (!status && errno == ELOOP) throw OutputError(path, errno_text(ELOOP));
  if (status && S_ISDIR(status->st_mode)) throw OutputError(path, errno_text(EISDIR));
  if (status) require_access(path, path, W_OK);
  if (!status || S_ISREG(status->st_mode)) {
    const std::string folder = resolved(path).parent_path().string();
    const auto folder_status = status_of(folder);
    if (folder_status && !S_ISDIR(folder_status->st_mode)) {
      throw OutputError(path, fmt::format("{}: {}", folder, errno_text(ENOTDIR)));
    }
    require_access(path, folder, W_OK | X_OK);
  }
}

bool is_standard_output(const std::string& path) { return descriptor_named(path) == STDOUT_FILENO; }

void require_distinct(const std::vector<std::string>& paths) {
  std::vector<std::string> before;
  for (const std::string& path : paths) {
    const auto status = status_of(path);
    const bool is_file = !descriptor_named(path) && (!status || S_ISREG(status->st_mode));
    if (!is_file && !is_standard_output(path)) continue;
    const std::string where = is_file ? resolved(path).lexically_normal().string() : "-";
    if (std::ranges::find(before, where) != before.end()) {
      throw UnsuitableOutput(path, "it is named as output twice");
    }
    before.push_back(where);
  }
}

AtomicFile::AtomicFile(const std::string& path, Temporary temporary)
    : path_(path == "-" ? "standard output" : path) {
  check_writable(path);
  const auto status = status_of(path);
  if (const auto fd = descriptor_named(path)) {
    fd_ = FileDescriptor(::fcntl(*fd, F_DUPFD_CLOEXEC, 0));
  } else if (status && !S_ISREG(status->st_mode)) {
    fd_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  } else {
    try {
      create_temporary(temporary);
    } catch (...) {
      release_slot();
      throw;
    }
    // What is replaced keeps its permissions; a file system that has none may refuse, which is no reason to stop.
    if (status) (void)::fchmod(fd_.get(), status->st_mode & 0777U);
  }
  if (fd_.get() < 0) fail(errno);
}

std::unique_ptr<AtomicFile> AtomicFile::join(const std::string& path, const std::string& temporary) {
  std::unique_ptr<AtomicFile> file(new AtomicFile);
  file->path_ = path;
  file->target_ = resolved(path).string();
  file->fd_ = FileDescriptor(::open(temporary.c_str(), O_WRONLY | O_CLOEXEC));
  if (file->fd_.get() < 0) {
    throw OutputError(
        path, fmt::format("{}, which another rank has made, cannot be opened here: {}; what would work: a "
                          "folder that all hosts share, or --parts",
                          temporary, errno_text(errno)));
  }
  return file;
}

std::string AtomicFile::temporary() const {
  return temporary_ == nullptr || is_nameless_ ? "" : temporary_->path.data();
}

void AtomicFile::create_temporary(Temporary kind) {
  target_ = resolved(path_).string();
  temporary_ = &claim_slot(path_);
  // A file without a name leaves nothing behind even when the process is killed. Not every file system has them.
  if (kind == Temporary::kept) {  // never armed: signal handlers leave it alone, too
    const auto formatted =
        fmt::format_to_n(temporary_->path.data(), temporary_->path.size() - 1, "{}.partial", target_);
    if (formatted.size >= temporary_->path.size()) fail(ENAMETOOLONG);
    *formatted.out = '\0';
    // Its name can be guessed: where others may write, a symbolic link or a pipe may wait there.
    fd_ = FileDescriptor(
        ::open(temporary_->path.data(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (fd_.get() < 0 && errno != ELOOP && errno != ENXIO) return;
    struct stat status {};
    if (fd_.get() < 0 || ::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      throw OutputError(path_,
                        fmt::format("{} is there and is no regular file; what would work: to remove it",
                                    temporary_->path.data()));
    }
    // Not every file system has locks.
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw OutputError(path_, fmt::format("another job is writing {}", temporary_->path.data()));
    }
    if (::lseek(fd_.get(), 0, SEEK_END) < 0) fail(errno);
    return;
  }
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  if (kind == Temporary::nameless_if_possible && ::access("/proc/self/fd", X_OK) == 0) {
    fd_ = FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  }
  is_nameless_ = fd_.get() >= 0;
  if (is_nameless_) return;
  // Not mkstemp, whose mode is 0600: here the kernel applies the umask.
  name_temporary([&](const char* name) {
    fd_ = FileDescriptor(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    return fd_.get() < 0 ? errno : 0;
  });
}

template <typename Make>
void AtomicFile::name_temporary(Make make) {
  PendingTemporary& slot = *temporary_;
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  std::random_device random;
  int error = EEXIST;
  while (error == EEXIST) {
    const auto formatted =
        fmt::format_to_n(slot.path.data(), slot.path.size() - 1, "{}/.papfft-{:08x}{:08x}.tmp",
                         folder == "/" ? "" : folder, random(), random());
    if (formatted.size >= slot.path.size()) {
      error = ENAMETOOLONG;
      break;
    }
    *formatted.out = '\0';
    // Armed before the name exists: a signal between the two then removes nothing, instead of leaving something.
    slot.state = PendingTemporary::armed;
    error = make(slot.path.data());
    if (all_given_up != 0) {
      (void)::unlink(slot.path.data());
      wait_for_end();
    }
    if (error != 0) slot.state = PendingTemporary::owned;
  }
  if (error != 0) fail(error);
}

void AtomicFile::release_slot() noexcept {
  if (temporary_ != nullptr) temporary_->state = PendingTemporary::unused;
  temporary_ = nullptr;
}

AtomicFile::~AtomicFile() {
  if (temporary_ != nullptr && temporary_->state == PendingTemporary::armed) {
    (void)::unlink(temporary_->path.data());
  }
  release_slot();
}

void AtomicFile::fail(int error) const { throw OutputError(path_, errno_text(error)); }

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    if (written == 0) fail(EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (is_direct()) fail(ESPIPE);
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

std::uint64_t AtomicFile::size() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void AtomicFile::truncate(std::uint64_t size) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) fail(errno);
  if (::lseek(fd_.get(), 0, SEEK_END) < 0) fail(errno);
}

void AtomicFile::sync_folder() const {
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder may be written and not read; and not every file system can do this.
  if (fd.get() >= 0 && ::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
}

void AtomicFile::sync() {
  if (is_direct()) return;
  if (::fsync(fd_.get()) != 0) fail(errno);
  if (!is_nameless_) sync_folder();
}

void AtomicFile::commit() {
  // Some errors of network and delayed-allocation file systems show only here. Pipes and devices cannot be synchronised.
  if (!is_direct() && ::fsync(fd_.get()) != 0) fail(errno);
  if (is_nameless_) {
    const std::string opened = fmt::format("/proc/self/fd/{}", fd_.get());
    name_temporary([&](const char* name) {
      return ::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    });
    is_nameless_ = false;
  }
  if (fd_.close() != 0) fail(errno);
  if (temporary_ == nullptr) return;
  if (::rename(temporary_->path.data(), target_.c_str()) != 0) {
    const int error = errno;
    if (error == ENOENT && all_given_up != 0) wait_for_end();
    fail(error);
  }
  release_slot();
  sync_folder();
}

void unlink_pending_temporaries() noexcept {
  const int saved_errno = errno;
  all_given_up = 1;
  for (const PendingTemporary& slot : pending_temporaries) {
    if (slot.state == PendingTemporary::armed) (void)::unlink(slot.path.data());
  }
  errno = saved_errno;
}

}  // namespace papfft::app::io
