// SPDX-License-Identifier: MIT
// One libFuzzer program for all targets, as they share what takes long to compile and link. The name by which it is started,
// fuzz_TARGET, says which one it feeds.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "tests/fuzz/targets.hpp"

namespace papfft::fuzz {
namespace {

const Target* chosen = nullptr;

}  // namespace
}  // namespace papfft::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string_view path = **argv;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const papfft::fuzz::Target& target : papfft::fuzz::kTargets) {
    if (name == "fuzz_" + std::string(target.name)) papfft::fuzz::chosen = &target;
  }
  if (papfft::fuzz::chosen == nullptr) {
    std::fputs("start this by one of the names fuzz_TARGET beside it\n", stderr);
    std::exit(64);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  papfft::fuzz::chosen->run(std::as_bytes(std::span(data, size)));
  return 0;
}
