// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <complex>
#include <cstddef>
#include <memory>

namespace papfft::app {

/// A peer to compare with: FFTW's own transform over MPI (libfftw3-mpi, optional), with the vector coming from the root and
/// going back to it by MPI_Scatter and MPI_Gather. Complex, forward, unscaled.
///
/// FFTW may leave the bins in its own order (FFTW_MPI_SCRAMBLED_OUT), which saves it one of three all-to-all exchanges: rank
/// r of P then has X[P q + r], and the root gets these blocks one after another. Putting the bins in order is left to the
/// caller.
template <typename T>
class FftwMpi {
 public:
  /// Whether this program was built with it.
  [[nodiscard]] static bool is_available();

  /// Collective; rank 0 is the root. Planned by FFTW_ESTIMATE: nearly all of the time goes into messages.
  /// @throws std::invalid_argument  not available, or FFTW does not give each rank N/P samples and those bins
  FftwMpi(MPI_Comm comm, std::size_t length);
  ~FftwMpi();
  FftwMpi(const FftwMpi&) = delete;
  FftwMpi& operator=(const FftwMpi&) = delete;

  /// Collective. At the root, shape of both: N.
  /// @throws comm::TransportError
  void execute(const std::complex<T>* in, std::complex<T>* blocks);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace papfft::app
