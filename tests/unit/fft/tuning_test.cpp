// SPDX-License-Identifier: MIT
#include "fft/local/tuning.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "fft/kernel/fftw_plan.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::fft {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Sets an environment variable (nullptr: none) for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

const Tuning::Key kComplex = Tuning::key<float>(PlanKind::complex_inverse, 1 << 16U);
const Tuning::Key kReal = Tuning::key<double>(PlanKind::real_forward, 4096);

class TuningTest : public testing::Test {
 protected:
  void SetUp() override {
    tuning_.set(kComplex, LocalKernel::pieces);
    tuning_.set(kReal, LocalKernel::fftw);
    (void)FftwPlan<double>::get(PlanKind::complex_forward, 96, Rigor::measure);  // some wisdom
  }
  test::ScratchFolder folder_;
  std::filesystem::path path_ = folder_.path() / "new" / "tuning";
  Tuning tuning_;
};

TEST_F(TuningTest, GoesToOtherProcessesAsText) {
  const auto there = Tuning::parse(tuning_.text());
  ASSERT_TRUE(there);
  EXPECT_EQ(there->find(kComplex), LocalKernel::pieces);
  std::string damaged = tuning_.text();
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_FALSE(Tuning::parse(damaged));
  const Tuning before = Tuning::of_user();
  Tuning::use_as_users(*there);
  EXPECT_EQ(Tuning::of_user().find(kReal), LocalKernel::fftw);
  Tuning::use_as_users(before);
}

TEST_F(TuningTest, ComesBackFromItsFile) {
  tuning_.write(path_);
  const auto back = Tuning::read(path_);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->size(), 2U);
  EXPECT_EQ(back->find(kComplex), LocalKernel::pieces);
  EXPECT_EQ(back->find(kReal), LocalKernel::fftw);
  EXPECT_EQ(back->find(Tuning::key<double>(PlanKind::complex_inverse, 1 << 16U)), std::nullopt);
  EXPECT_NE(contents(path_).find("(fftw-"), std::string::npos);
  // Written anew: one file, and nothing else in the folder.
  tuning_.set(kReal, LocalKernel::own);
  tuning_.write(path_);
  EXPECT_EQ(Tuning::read(path_)->find(kReal), LocalKernel::own);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_.parent_path()), {}), 1);
}

TEST_F(TuningTest, ADamagedFileCountsAsNoneAndIsReplaced) {
  tuning_.write(path_);
  const std::string good = contents(path_);
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    put(path_, bad);
    EXPECT_FALSE(Tuning::read(path_)) << "byte " << at;
    put(path_, good.substr(0, at));
    EXPECT_FALSE(Tuning::read(path_)) << "cut at " << at;
  }
  tuning_.write(path_);
  EXPECT_EQ(contents(path_), good);
  EXPECT_FALSE(Tuning::read(folder_.path() / "absent"));
  EXPECT_FALSE(Tuning::read(folder_.path()));
  EXPECT_FALSE(Tuning::read({}));
}

TEST_F(TuningTest, ReplacesNothingElse) {
  const std::string other = folder_.file("other", "my measurements");
  EXPECT_THROW(tuning_.write(other), std::runtime_error);
  EXPECT_EQ(test::file_text(other), "my measurements");
  const std::string pipe = (folder_.path() / "pipe").string();  // as a device
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(tuning_.write(pipe), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(TuningTest, SaysWhyItCannotBeWritten) {
  put(folder_.path() / "file", "");
  EXPECT_THROW(tuning_.write(folder_.path() / "file" / "tuning"), std::runtime_error);
  std::filesystem::create_directories(path_ / "in the way");
  EXPECT_THROW(tuning_.write(path_), std::runtime_error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_.parent_path()), {}), 1);
}

TEST_F(TuningTest, StandsInTheUsersCache) {
  const Environment none("PAPFFT_TUNING", nullptr);
  const Environment home("HOME", "/home/someone");
  {
    const Environment cache("XDG_CACHE_HOME", "/elsewhere");
    EXPECT_EQ(Tuning::default_path().parent_path(), "/elsewhere/papfft");
  }
  for (const char* ignored : {static_cast<const char*>(nullptr), "", "relative/folder"}) {
    const Environment cache("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(Tuning::default_path().parent_path(), "/home/someone/.cache/papfft");
    const Environment homeless("HOME", nullptr);
    EXPECT_TRUE(Tuning::default_path().empty());
  }
  const Environment given("PAPFFT_TUNING", "/some/file");
  EXPECT_EQ(Tuning::default_path(), "/some/file");
  const Environment off("PAPFFT_TUNING", "off");
  EXPECT_TRUE(Tuning::default_path().empty());
}

TEST_F(TuningTest, DecidesWhatCanBeDoneAndLeavesTheRestToTheRule) {
  EXPECT_EQ(tuned_kernel<float>(tuning_, kComplex.kind, kComplex.length), LocalKernel::pieces);
  EXPECT_EQ(tuned_kernel<double>(tuning_, kReal.kind, kReal.length), LocalKernel::fftw);
  const auto rule = default_kernel(PlanKind::complex_forward, 1024);
  EXPECT_EQ(tuned_kernel<double>(tuning_, PlanKind::complex_forward, 1024), rule);
  tuning_.set(Tuning::key<double>(PlanKind::complex_forward, 1024), LocalKernel::pieces);  // there are none
  EXPECT_EQ(tuned_kernel<double>(tuning_, PlanKind::complex_forward, 1024), rule);
  tuning_.set(Tuning::key<double>(PlanKind::complex_forward, 1000), LocalKernel::own);
  EXPECT_EQ(tuned_kernel<double>(tuning_, PlanKind::complex_forward, 1000), LocalKernel::fftw);
}

}  // namespace
}  // namespace papfft::fft
