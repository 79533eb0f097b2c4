// SPDX-License-Identifier: MIT
// How much memory a rank may still take, to be compared with what its job needs before the work begins.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace papfft::app {

/// A job needs more memory than there is (exit code 70). what() is one line that says how much, and what would work.
class MemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bytes that this process may still allocate: what its limit of address space leaves (ulimit -v), and its share of what the host
/// has, whichever is less. The largest number where nothing is known. @param ranks_here  ranks that share the host's memory
[[nodiscard]] std::uint64_t available_memory_bytes(int ranks_here);

/// Of the root, which reads the input. @param what_works  with less memory
/// @throws MemoryError  `need` is more than `there`
void require_memory(const std::string& input, std::uint64_t need, std::uint64_t there,
                    const std::string& what_works);

/// "4.3 GB"
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace papfft::app
