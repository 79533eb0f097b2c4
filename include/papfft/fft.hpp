// SPDX-License-Identifier: MIT
// Fourier transforms, by one process with threads and by the ranks of a group. The library is papfft::fft (pkg-config: papfft-fft).
// It links FFTW: whoever passes on a program that links it must follow the GPL.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "papfft/collectives.hpp"
#include "papfft/direction.hpp"
#include "papfft/export.h"

namespace papfft::fft {

/// What is transformed. Inverse transforms have the factor 1/N, as in numpy.fft. A complex vector of N samples has N
/// bins; a real one (`real`) has the N/2+1 bins of numpy.fft.rfft.
struct Shape {
  std::size_t length = 0;  ///< N: samples of a vector
  Direction direction = Direction::forward;
  bool real = false;
};

/// Transforms of one shape on this process's OpenMP threads; T is float or double. The results depend on the shape and
/// the type of processor, but not on the number of threads. One call at a time per object. Move-only.
///
/// ```cpp
/// papfft::fft::Fft<float> fft({.length = 1024});
/// std::vector<std::complex<float>> samples(8 * 1024), bins(8 * 1024);
/// fft.execute(samples, bins);                        // eight vectors at once
/// ```
template <typename T>
class PAPFFT_API Fft {
 public:
  using Complex = std::complex<T>;
  /// @throws std::invalid_argument  a length of 0, or one too long for FFTW
  explicit Fft(const Shape& shape);
  Fft(Fft&&) noexcept;
  Fft& operator=(Fft&&) noexcept;
  Fft(const Fft&) = delete;
  Fft& operator=(const Fft&) = delete;
  ~Fft();

  /// Transforms any number of vectors that follow one another. Each of the three functions is for one kind of shape. `in`
  /// and `out` must not overlap. @throws std::invalid_argument  the spans do not hold the same number of whole vectors,
  /// or the shape is of another kind
  void execute(std::span<const Complex> in, std::span<Complex> out);
  void execute(std::span<const T> in, std::span<Complex> half_spectra);
  void execute(std::span<const Complex> half_spectra, std::span<T> out);

 private:
  struct PAPFFT_LOCAL Body;
  std::unique_ptr<Body> body_;
};

/// One vector at a time, transformed by all ranks of a group. Rank 0 splits it into one block per rank by decimation in
/// frequency and scatters the blocks. Each rank transforms its own block. Rank 0 gathers the blocks and puts the bins in
/// order. If the group is a Session, each rank tells the session how far its transform is, so that the gather can follow
/// the ranks' arrivals.
///
/// ```cpp
/// papfft::comm::MpiSession session(MPI_COMM_WORLD);
/// const std::size_t length = 1024 * static_cast<std::size_t>(session.size());
/// papfft::fft::SharedFft<double> fft(session, {.length = length}, "auto", "bsls");
/// std::vector<std::complex<double>> samples(length), bins(length);      // these matter at rank 0
/// fft.execute(samples, bins);
/// ```
template <typename T>
class PAPFFT_API SharedFft {
 public:
  using Complex = std::complex<T>;
  /// Not collective. @param comm  must outlive this object. @param scatter, gather  algorithms' names
  /// @throws std::invalid_argument  the ranks cannot share the shape. The length must be a multiple of their number, or, of real
  ///                                vectors, of twice their number
  SharedFft(comm::Collectives& comm, const Shape& shape, const std::string& scatter = "auto",
            const std::string& gather = "auto");
  SharedFft(SharedFft&&) noexcept;
  SharedFft& operator=(SharedFft&&) noexcept;
  SharedFft(const SharedFft&) = delete;
  SharedFft& operator=(const SharedFft&) = delete;
  ~SharedFft();

  /// Collective. At rank 0 the spans hold one vector each and must not overlap; elsewhere they are ignored.
  /// @throws std::invalid_argument  as Fft::execute, at rank 0 (the others then wait: end the job); else as the
  /// collectives, which refuse an unknown algorithm here
  void execute(std::span<const Complex> in, std::span<Complex> out);
  void execute(std::span<const T> in, std::span<Complex> half_spectrum);
  void execute(std::span<const Complex> half_spectrum, std::span<T> out);

 private:
  struct PAPFFT_LOCAL Body;
  std::unique_ptr<Body> body_;
};

extern template class Fft<float>;
extern template class Fft<double>;
extern template class SharedFft<float>;
extern template class SharedFft<double>;

}  // namespace papfft::fft
