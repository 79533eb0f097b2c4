// SPDX-License-Identifier: MIT
// One libFuzzer program per target; the build names it.
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  papfft::fuzz::PAPFFT_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
