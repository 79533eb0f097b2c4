// SPDX-License-Identifier: MIT
#include "app/io/atomic_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <vector>

#include "app/io/writer.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app::io {
namespace {

using test::file_text;
using test::ScratchFolder;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

void write_whole(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : ~0U;
}

/// Runs as somebody who is not root, where the test is root: root may write anywhere.
class AsNobody {
 public:
  AsNobody() : root_(::geteuid() == 0) {
    if (root_ && ::seteuid(65534) != 0) throw std::runtime_error("seteuid failed");
  }
  ~AsNobody() {
    if (root_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool root_;
};

TEST(AtomicFile, AppearsOnlyOnCommit) {
  for (const auto kind : {AtomicFile::Temporary::named, AtomicFile::Temporary::nameless_if_possible}) {
    const ScratchFolder folder;
    const std::string path = folder.file("out.bin", "old");
    {
      AtomicFile file(path, kind);
      file.write("new ");
      file.write("content");
      EXPECT_EQ(file_text(path), "old");
      if (kind == AtomicFile::Temporary::named) {
        EXPECT_EQ(folder.names().size(), 2U);
      }
      file.commit();
      EXPECT_EQ(file_text(path), "new content");
      EXPECT_THAT(folder.names(), ElementsAre("out.bin"));
    }
    EXPECT_EQ(file_text(path), "new content");
  }
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const ScratchFolder folder;
  const std::string path = folder.file("out.bin", "old");
  { AtomicFile(path).write("new"); }
  { AtomicFile(folder.file("other.bin")).write("new"); }
  EXPECT_THAT(folder.names(), ElementsAre("out.bin"));
  EXPECT_EQ(file_text(path), "old");
}

TEST(AtomicFile, HasTheUmasksPermissionsOrThoseOfTheFileItReplaces) {
  const ScratchFolder folder;
  const mode_t before = ::umask(027);
  write_whole(folder.file("new"), "x");
  const std::string kept = folder.file("kept", "x");
  ::chmod(kept.c_str(), 0604);
  write_whole(kept, "y");
  ::umask(before);
  EXPECT_EQ(mode_of(folder.file("new")), 0640U);
  EXPECT_EQ(mode_of(kept), 0604U);
}

TEST(AtomicFile, FollowsASymbolicLink) {
  const ScratchFolder folder;
  const std::string target = folder.file("target", "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  write_whole(folder.file("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(file_text(target), "new");
}

TEST(AtomicFile, TwoOutputsInOnePlaceAreFound) {
  const ScratchFolder folder;
  const std::string a = folder.file("a", "old");
  std::filesystem::create_symlink("a", folder.file("link"));
  const auto error = [](const std::vector<std::string>& paths) {
    return error_of([&] { require_distinct(paths); });
  };
  for (const std::string& same : {a, folder.file("link"), (folder.path() / "." / "a").string()}) {
    EXPECT_THAT(error({a, folder.file("b"), same}), HasSubstr("twice")) << same;
  }
  EXPECT_THAT(error({folder.file("new"), folder.file("new")}), HasSubstr("twice"));
  EXPECT_THAT(error({"-", "/dev/stdout"}), HasSubstr("twice"));
  EXPECT_EQ(error({a, folder.file("b"), "-", "/dev/null", "/dev/null", "/dev/stderr"}), "no error");
  EXPECT_TRUE(is_standard_output("/proc/self/fd/1"));
  EXPECT_FALSE(is_standard_output("1"));
}

TEST(AtomicFile, ARelativeNameStaysWhereItWas) {
  const ScratchFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  {
    AtomicFile file("out.bin");
    file.write("x");
    std::filesystem::current_path(before);
    file.commit();
  }
  EXPECT_EQ(file_text(folder.file("out.bin")), "x");
}

TEST(AtomicFile, NamesOfAnyLengthTheSystemAllows) {
  const ScratchFolder folder;
  const std::string longest = folder.file(std::string(255, 'n'));
  write_whole(longest, "x");
  EXPECT_EQ(file_text(longest), "x");
  const std::string longer = folder.file(std::string(256, 'n'));
  EXPECT_EQ(error_of([&] { write_whole(longer, "x"); }), "cannot write " + longer + ": File name too long");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(AtomicFile, RefusesMoreFilesThanItCouldCleanUp) {
  const ScratchFolder folder;
  std::vector<std::unique_ptr<AtomicFile>> open;
  const auto open_next = [&] {
    open.push_back(std::make_unique<AtomicFile>(folder.file(std::to_string(open.size()))));
  };
  for (int i = 0; i < 32; ++i) open_next();
  EXPECT_THAT(error_of(open_next), EndsWith(": more than 32 output files at once"));
  open.pop_back();
  EXPECT_EQ(error_of(open_next), "no error");
  open.clear();
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AtomicFile, ASignalHandlerCanRemoveWhatIsPending) {
  const ScratchFolder folder;
  const std::string path = folder.file("out.bin", "old");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int) {
      unlink_pending_temporaries();
      ::_exit(75);
    });
    AtomicFile file(path, AtomicFile::Temporary::named);
    AtomicFile second(folder.file("second.bin"), AtomicFile::Temporary::named);
    file.write("half");
    (void)!::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(folder.names().size(), 3U);
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_EQ(WEXITSTATUS(status), 75);
  EXPECT_THAT(folder.names(), ElementsAre("out.bin"));
  EXPECT_EQ(file_text(path), "old");
}

TEST(AtomicFile, AFullDeviceIsReported) {
  const auto write = [] { write_whole("/dev/full", std::string(100000, 'x')); };
  EXPECT_EQ(error_of(write), "cannot write /dev/full: No space left on device");
  EXPECT_EQ(error_of([] { write_whole("/dev/null", "x"); }), "no error");
}

TEST(AtomicFile, AFullDiskIsReportedAndLeftAsItWas) {
  const ScratchFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP()
        << "mounting a small file system takes root's rights; AFileSizeLimitIsReported covers the same code";
  }
  const std::string path = folder.file("out.npy", "old");
  const std::string error = error_of([&] { write_npy<double>(path, std::vector<double>(16384, 1.5)); });
  const std::string content = file_text(path);
  const auto names = folder.names();
  ASSERT_EQ(::umount2(folder.path().c_str(), MNT_DETACH), 0);
  EXPECT_EQ(error, "cannot write " + path + ": No space left on device");
  EXPECT_EQ(content, "old");
  EXPECT_THAT(names, ElementsAre("out.npy"));
}

TEST(AtomicFile, AFileSizeLimitIsReported) {
  const ScratchFolder folder;
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 10000;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  // The first write is cut short at the limit, the next one fails.
  const std::string error =
      error_of([&] { write_csv<float>(folder.file("a.csv"), std::vector<float>(20000, 0.125F)); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, "cannot write " + folder.file("a.csv") + ": File too large");
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AtomicFile, AClosedPipeIsReported) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  auto* const handler = std::signal(SIGPIPE, SIG_IGN);
  const std::string path = "/dev/fd/" + std::to_string(ends[1]);
  const std::string error = error_of([&] { write_whole(path, "x"); });
  std::signal(SIGPIPE, handler);
  ::close(ends[1]);
  EXPECT_EQ(error, "cannot write " + path + ": Broken pipe");
}

TEST(AtomicFile, ARedirectedOutputIsContinuedNotReplaced) {
  const ScratchFolder folder;
  const std::string path = folder.file("log", "before ");
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND);
  write_whole("/dev/fd/" + std::to_string(fd), "one ");
  write_whole("/proc/self/fd/" + std::to_string(fd), "two ");
  const int saved = ::dup(STDOUT_FILENO);
  ::dup2(fd, STDOUT_FILENO);
  write_whole("-", "three ");
  write_whole("/dev/stdout", "four");
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(fd);
  EXPECT_EQ(file_text(path), "before one two three four");
  EXPECT_THAT(folder.names(), ElementsAre("log"));
}

TEST(AtomicFile, ANamedPipeIsWrittenDirectly) {
  const ScratchFolder folder;
  const std::string path = folder.file("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  write_whole(path, "through");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  ::close(reader);
  EXPECT_STREQ(text, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(CheckWritable, FindsOutBeforeTheWork) {
  const ScratchFolder folder;
  const auto error = [](const std::string& path) { return error_of([&] { check_writable(path); }); };
  EXPECT_EQ(error(folder.file("new.npy")), "no error");
  EXPECT_EQ(error(folder.file("old.npy", "x")), "no error");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(error("relative-name.npy"), "no error");
  std::filesystem::current_path(before);
  for (const char* direct : {"-", "/dev/null", "/dev/stdout", "/dev/fd/1"})
    EXPECT_EQ(error(direct), "no error");
  EXPECT_EQ(error(""), "cannot write output: its name is empty");
  EXPECT_EQ(error(folder.path().string()), "cannot write " + folder.path().string() + ": Is a directory");
  EXPECT_EQ(error(folder.file("none/out.npy")), "cannot write " + folder.file("none/out.npy") + ": " +
                                                    folder.file("none") + ": No such file or directory");
  EXPECT_EQ(error(folder.file("old.npy/out.npy")), "cannot write " + folder.file("old.npy/out.npy") + ": " +
                                                       folder.file("old.npy") + ": Not a directory");
  EXPECT_THAT(folder.names(), ElementsAre("old.npy"));
}

TEST(CheckWritable, RespectsPermissions) {
  const ScratchFolder folder;
  const std::string locked = folder.file("locked");
  std::filesystem::create_directory(locked);
  const std::string read_only = folder.file("read-only.npy", "x");
  ::chmod(locked.c_str(), 0555);
  ::chmod(read_only.c_str(), 0444);
  ::chmod(folder.path().c_str(), 0777);
  std::string in_locked;
  std::string over_read_only;
  {
    const AsNobody nobody;
    in_locked = error_of([&] { AtomicFile(locked + "/out.npy"); });
    over_read_only = error_of([&] { AtomicFile file(read_only); });
  }
  EXPECT_EQ(in_locked, "cannot write " + locked + "/out.npy: " + locked + ": Permission denied");
  EXPECT_EQ(over_read_only, "cannot write " + read_only + ": Permission denied");
}

TEST(AtomicFile, WhatWasGivenUpMeanwhileIsNoError) {
  const ScratchFolder folder;
  const auto commit_given_up = [&] {
    AtomicFile file(folder.path() / "out.npy", AtomicFile::Temporary::named);
    unlink_pending_temporaries();
    ::alarm(1);  // in place of the thread that ends the process
    file.commit();
  };
  EXPECT_EXIT(commit_given_up(), testing::KilledBySignal(SIGALRM), "");
  const auto begin_too_late = [&] {
    unlink_pending_temporaries();
    ::alarm(1);
    const AtomicFile file(folder.path() / "out.npy", AtomicFile::Temporary::named);
  };
  EXPECT_EXIT(begin_too_late(), testing::KilledBySignal(SIGALRM), "");
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace papfft::app::io
