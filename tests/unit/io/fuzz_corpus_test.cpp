// SPDX-License-Identifier: MIT
// Every input the fuzzers start from, and every one that once made the library fail (crash-*), in the ordinary builds.
#include <gtest/gtest.h>

#include "tests/fuzz/targets.hpp"
#include "tests/support/repository.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::fuzz {
namespace {

class FuzzCorpus : public testing::TestWithParam<Target> {};

// A broken promise aborts the process (targets.hpp), an unexpected exception fails the test.
TEST_P(FuzzCorpus, EveryFileAndEveryPrefixOfItIsHandled) {
  const auto folder = test::repository() / "tests/fuzz/corpus" / GetParam().name;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const std::string content = test::file_text(entry.path());
    const Bytes bytes = std::as_bytes(std::span(content));
    EXPECT_NO_THROW(GetParam().run(bytes));
    const std::size_t step = content.size() / 64 + 1;
    for (std::size_t length = 0; length < bytes.size(); length += step)
      EXPECT_NO_THROW(GetParam().run(bytes.first(length)));
    EXPECT_LT(content.size(), 4096U) << "keep the corpus small";
    ++files;
  }
  EXPECT_GE(files, 10U);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace papfft::fuzz
