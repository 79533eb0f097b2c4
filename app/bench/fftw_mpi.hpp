// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <complex>
#include <cstddef>
#include <memory>

namespace papfft::app {

/// In which order the ranks' blocks of bins follow one another.
///   scrambled  FFTW's own (FFTW_MPI_SCRAMBLED_OUT), which saves it one of three all-to-all exchanges: rank r of P has X[P q + r]
///   natural    rank r of P has X[r N/P .. (r + 1) N/P)
enum class BinOrder { scrambled, natural };

/// A peer to compare with: FFTW's own transform over MPI (libfftw3-mpi, optional). Complex, forward, unscaled. The vector may come
/// from the root and go back to it by MPI_Scatter and MPI_Gather, or be with the ranks before and after.
template <typename T>
class FftwMpi {
 public:
  /// Whether this program was built with it.
  [[nodiscard]] static bool is_available();

  /// Collective; rank 0 is the root. Planned by FFTW_ESTIMATE: nearly all of the time goes into messages.
  /// @throws std::invalid_argument  not available, or FFTW does not give each rank N/P samples and those bins
  FftwMpi(MPI_Comm comm, std::size_t length, BinOrder order = BinOrder::scrambled);
  ~FftwMpi();
  FftwMpi(const FftwMpi&) = delete;
  FftwMpi& operator=(const FftwMpi&) = delete;

  /// Collective. At the root, shape of both: N; the ranks' blocks one after another.
  /// @throws comm::TransportError
  void execute(const std::complex<T>* in, std::complex<T>* blocks);

  /// Collective: from this rank's block of samples to its block of bins.
  void execute();
  /// Shape of both: N/P.
  [[nodiscard]] std::complex<T>* samples();
  [[nodiscard]] const std::complex<T>* bins() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace papfft::app
