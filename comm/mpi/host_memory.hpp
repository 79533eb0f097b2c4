// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace papfft::comm {

/// Memory that the ranks of `host` share, which all are on one host: a file without a name, so that nothing is left of it when the
/// last of them has ended, however it ended.
///
/// Collective over `host`. The ranks map the first one's file through /proc, which needs the same user and the same view of the
/// processes. So this fails where each rank has a container of its own.
/// @param prepare  is called by the first rank, before others see the memory
/// @return nullptr on all ranks, unless each could map it @throws TransportError
[[nodiscard]] std::shared_ptr<void> share_memory(MPI_Comm host, std::size_t bytes,
                                                 const std::function<void(void*)>& prepare);

}  // namespace papfft::comm
