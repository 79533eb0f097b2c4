// SPDX-License-Identifier: MIT
// Measures what messages cost on the levels of a machine, for `papfft tune --collectives`.
#pragma once
#include "app/bench/bench_common.hpp"
#include "comm/choose/machine_profile.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

/// Collective: two ranks of a host exchange messages, if a host has two, then two ranks of different hosts, if there are two hosts. The others
/// wait. Takes some tenths of a second at 1 Gb/s.
/// @return the same on all ranks
[[nodiscard]] comm::MachineProfile measure_machine(comm::Communicator& comm, const OwnComm& world);

}  // namespace papfft::app
