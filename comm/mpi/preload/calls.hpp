// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include "comm/mpi/preload/way.hpp"
#include "papfft/mpi_lists.h"

namespace papfft::comm::preload {

/// Each call of MPI's that may be ours: carries it out, starts it, or lets it pass.
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) \
  int name(Way& way, PAPFFT_LIST parameters, MPI_Comm comm);
PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_

}  // namespace papfft::comm::preload
