// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm::test {

/// Every composition of every algorithm that it serves.
inline std::vector<const Algorithm*> composed_algorithms() {
  std::vector<const Algorithm*> all;
  for (const Algorithm* flat : algorithms()) {
    for (const Composition* composition : compositions()) {
      if (!composition->serves(*flat)) continue;
      all.push_back(
          &find_algorithm(flat->operation, std::string(flat->name) + "@" + std::string(composition->name)));
    }
  }
  return all;
}

/// The same behind all flat algorithms.
inline std::vector<const Algorithm*> all_algorithms() {
  std::vector<const Algorithm*> all = composed_algorithms();
  all.insert(all.begin(), algorithms().begin(), algorithms().end());
  return all;
}

}  // namespace papfft::comm::test
