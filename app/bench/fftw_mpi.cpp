// SPDX-License-Identifier: MIT
#include "app/bench/fftw_mpi.hpp"

#include <stdexcept>

#include "comm/mpi/mpi_transport.hpp"

#ifdef PAPFFT_WITH_FFTW_MPI
#include <fftw3-mpi.h>

#include "app/bench/fftw_transform.hpp"
#endif

namespace papfft::app {

#ifdef PAPFFT_WITH_FFTW_MPI

namespace {

/// libfftw3-mpi's names for one precision.
template <typename T>
struct MpiNames;

#define PAPFFT_FFTW_MPI_NAMES(T, PREFIX)                           \
  template <>                                                      \
  struct MpiNames<T> {                                             \
    static constexpr auto init = PREFIX##_mpi_init;                \
    static constexpr auto local_size = PREFIX##_mpi_local_size_1d; \
    static constexpr auto plan = PREFIX##_mpi_plan_dft_1d;         \
  };
PAPFFT_FFTW_MPI_NAMES(float, fftwf)
PAPFFT_FFTW_MPI_NAMES(double, fftw)
#undef PAPFFT_FFTW_MPI_NAMES

}  // namespace

template <typename T>
struct FftwMpi<T>::Plan : FftwTransform<T> {
  MPI_Comm comm = MPI_COMM_NULL;
  int block_bytes = 0;
};

template <typename T>
bool FftwMpi<T>::is_available() {
  return true;
}

template <typename T>
FftwMpi<T>::FftwMpi(MPI_Comm comm, std::size_t length, BinOrder order) : plan_(std::make_unique<Plan>()) {
  static const bool initialised = (MpiNames<T>::init(), true);
  (void)initialised;
  int ranks = 1;
  int rank = 0;
  comm::check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  comm::check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const auto n = static_cast<std::ptrdiff_t>(length);
  std::ptrdiff_t in_count = 0;
  std::ptrdiff_t in_first = 0;
  std::ptrdiff_t out_count = 0;
  std::ptrdiff_t out_first = 0;
  const unsigned flags = FFTW_ESTIMATE | (order == BinOrder::scrambled ? FFTW_MPI_SCRAMBLED_OUT : 0U);
  const std::ptrdiff_t room =
      MpiNames<T>::local_size(n, comm, FFTW_FORWARD, flags, &in_count, &in_first, &out_count, &out_first);
  const std::ptrdiff_t block = n / ranks;
  // Its order of bins is one of equal blocks only where each rank has at least as many samples as there are ranks.
  int fits = n % ranks == 0 && block % ranks == 0 && in_count == block && out_count == block &&
                     in_first == rank * block && out_first == rank * block
                 ? 1
                 : 0;
  comm::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (fits == 0) {
    throw std::invalid_argument("engine fftw-mpi: the square of the number of ranks must divide the length");
  }
  Plan& p = *plan_;
  p.comm = comm;
  p.block_bytes = static_cast<int>(block * static_cast<std::ptrdiff_t>(sizeof(std::complex<T>)));
  p.allocate(static_cast<std::size_t>(room));
  p.handle = MpiNames<T>::plan(n, p.in, p.out, comm, FFTW_FORWARD, flags);
  if (p.handle == nullptr) throw std::invalid_argument("engine fftw-mpi: FFTW cannot plan this length");
}

template <typename T>
void FftwMpi<T>::execute(const std::complex<T>* in, std::complex<T>* blocks) {
  const Plan& p = *plan_;
  comm::check_mpi(MPI_Scatter(in, p.block_bytes, MPI_BYTE, p.in, p.block_bytes, MPI_BYTE, 0, p.comm),
                  "MPI_Scatter");
  p.execute();
  comm::check_mpi(MPI_Gather(p.out, p.block_bytes, MPI_BYTE, blocks, p.block_bytes, MPI_BYTE, 0, p.comm),
                  "MPI_Gather");
}

template <typename T>
void FftwMpi<T>::execute() {
  plan_->execute();
}

template <typename T>
std::complex<T>* FftwMpi<T>::samples() {
  return reinterpret_cast<std::complex<T>*>(plan_->in);
}

template <typename T>
const std::complex<T>* FftwMpi<T>::bins() const {
  return reinterpret_cast<const std::complex<T>*>(plan_->out);
}

#else

template <typename T>
struct FftwMpi<T>::Plan {};

template <typename T>
bool FftwMpi<T>::is_available() {
  return false;
}

template <typename T>
FftwMpi<T>::FftwMpi(MPI_Comm /*comm*/, std::size_t /*length*/, BinOrder /*order*/) {
  throw std::invalid_argument("engine fftw-mpi: papfft was built without libfftw3-mpi");
}

template <typename T>
void FftwMpi<T>::execute(const std::complex<T>* /*in*/, std::complex<T>* /*blocks*/) {}

template <typename T>
void FftwMpi<T>::execute() {}

template <typename T>
std::complex<T>* FftwMpi<T>::samples() {
  return nullptr;
}

template <typename T>
const std::complex<T>* FftwMpi<T>::bins() const {
  return nullptr;
}

#endif

template <typename T>
FftwMpi<T>::~FftwMpi() = default;

template class FftwMpi<float>;
template class FftwMpi<double>;

}  // namespace papfft::app
