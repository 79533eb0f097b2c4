// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string_view>

#include "papfft/export.h"

namespace papfft::comm {

/// The collective operations. What each promises: comm/schedule/core/contract.hpp.
enum class Operation : std::uint8_t {
  scatter,
  gather,
  bcast,
  reduce,
  allgather,
  allgatherv,  ///< as allgather; apart because other algorithms suit blocks of unequal size
  allreduce,
  reduce_scatter
};
inline constexpr int kOperationCount = 8;

[[nodiscard]] PAPFFT_API std::string_view to_string(Operation operation);

}  // namespace papfft::comm
