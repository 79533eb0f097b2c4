// SPDX-License-Identifier: MIT
#include "app/bench/fftw_threads.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "app/run/cores.hpp"
#include "comm/transport/cores.hpp"

#ifdef PAPFFT_WITH_FFTW_THREADS
#include "app/bench/fftw_transform.hpp"
#endif

namespace papfft::app {

#ifdef PAPFFT_WITH_FFTW_THREADS

namespace {

/// libfftw3_threads' names for one precision, and those of the plans that use it.
template <typename T>
struct ThreadNames;

#define PAPFFT_FFTW_THREAD_NAMES(T, PREFIX)                     \
  template <>                                                   \
  struct ThreadNames<T> {                                       \
    static constexpr auto init = PREFIX##_init_threads;         \
    static constexpr auto use = PREFIX##_plan_with_nthreads;    \
    static constexpr auto plan_complex = PREFIX##_plan_dft_1d;  \
    static constexpr auto plan_real = PREFIX##_plan_dft_r2c_1d; \
  };
PAPFFT_FFTW_THREAD_NAMES(float, fftwf)
PAPFFT_FFTW_THREAD_NAMES(double, fftw)
#undef PAPFFT_FFTW_THREAD_NAMES

}  // namespace

template <typename T>
struct FftwThreads<T>::Plan : FftwTransform<T> {
  RunOn cores{CoreSet::everything()};
  int threads = comm::available_cores();
};

template <typename T>
bool FftwThreads<T>::is_available() {
  return true;
}

template <typename T>
FftwThreads<T>::FftwThreads(std::size_t length, bool real) : plan_(std::make_unique<Plan>()) {
  using Names = ThreadNames<T>;
  static const bool initialised = Names::init() != 0;
  if (!initialised || length > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::invalid_argument("engine fftw-measure: FFTW cannot plan this length");
  }
  Plan& p = *plan_;
  p.allocate(length);
  const int n = static_cast<int>(length);
  Names::use(p.threads);
  p.handle = real ? Names::plan_real(n, reinterpret_cast<T*>(p.in), p.out, FFTW_MEASURE)
                  : Names::plan_complex(n, p.in, p.out, FFTW_FORWARD, FFTW_MEASURE);
  Names::use(1);
  if (p.handle == nullptr) throw std::invalid_argument("engine fftw-measure: FFTW cannot plan this length");
}

template <typename T>
int FftwThreads<T>::threads() const {
  return plan_->threads;
}

template <typename T>
void* FftwThreads<T>::in() {
  return plan_->in;
}

template <typename T>
const std::complex<T>* FftwThreads<T>::out() const {
  return reinterpret_cast<const Complex*>(plan_->out);
}

template <typename T>
void FftwThreads<T>::execute() {
  plan_->execute();
}

#else

template <typename T>
struct FftwThreads<T>::Plan {};

template <typename T>
bool FftwThreads<T>::is_available() {
  return false;
}

template <typename T>
FftwThreads<T>::FftwThreads(std::size_t /*length*/, bool /*real*/) {
  throw std::invalid_argument("engine fftw-measure: papfft was built without libfftw3_threads");
}

template <typename T>
int FftwThreads<T>::threads() const {
  return 0;
}

template <typename T>
void* FftwThreads<T>::in() {
  return nullptr;
}

template <typename T>
const std::complex<T>* FftwThreads<T>::out() const {
  return nullptr;
}

template <typename T>
void FftwThreads<T>::execute() {}

#endif

template <typename T>
FftwThreads<T>::~FftwThreads() = default;

template class FftwThreads<float>;
template class FftwThreads<double>;

}  // namespace papfft::app
