// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/inside.hpp"

namespace papfft::comm::preload {

thread_local int Inside::depth_ = 0;

}  // namespace papfft::comm::preload
