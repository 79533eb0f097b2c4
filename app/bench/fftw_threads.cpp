// SPDX-License-Identifier: MIT
#include "app/bench/fftw_threads.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "app/bench/fftw_transform.hpp"
#include "app/run/cores.hpp"
#include "comm/engine/wait.hpp"

#ifdef PAPFFT_WITH_FFTW_THREADS
#include <fftw3.h>
#endif

namespace papfft::app {

#ifdef PAPFFT_WITH_FFTW_THREADS

namespace {

/// FFTW's names for one precision; the same members for both.
template <typename T>
struct Api;

#define PAPFFT_FFTW_THREADS_API(T, PREFIX)                      \
  template <>                                                   \
  struct Api<T> {                                               \
    using Complex = PREFIX##_complex;                           \
    using Handle = PREFIX##_plan;                               \
    static constexpr auto init = PREFIX##_init_threads;         \
    static constexpr auto use = PREFIX##_plan_with_nthreads;    \
    static constexpr auto plan_complex = PREFIX##_plan_dft_1d;  \
    static constexpr auto plan_real = PREFIX##_plan_dft_r2c_1d; \
    static constexpr auto execute = PREFIX##_execute;           \
    static constexpr auto destroy = PREFIX##_destroy_plan;      \
    static constexpr auto allocate = PREFIX##_alloc_complex;    \
    static constexpr auto release = PREFIX##_free;              \
  };
PAPFFT_FFTW_THREADS_API(float, fftwf)
PAPFFT_FFTW_THREADS_API(double, fftw)
#undef PAPFFT_FFTW_THREADS_API

}  // namespace

template <typename T>
struct FftwThreads<T>::Plan : FftwTransform<Api<T>> {
  RunOn cores{CoreSet::everything()};
  int threads = comm::available_cores();
};

template <typename T>
bool FftwThreads<T>::is_available() {
  return true;
}

template <typename T>
FftwThreads<T>::FftwThreads(std::size_t length, bool real) : plan_(std::make_unique<Plan>()) {
  static const bool initialised = Api<T>::init() != 0;
  if (!initialised || length > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::invalid_argument("engine fftw-measure: FFTW cannot plan this length");
  }
  Plan& p = *plan_;
  p.in = Api<T>::allocate(length);
  p.out = Api<T>::allocate(length);
  const int n = static_cast<int>(length);
  Api<T>::use(p.threads);
  p.handle = real ? Api<T>::plan_real(n, reinterpret_cast<T*>(p.in), p.out, FFTW_MEASURE)
                  : Api<T>::plan_complex(n, p.in, p.out, FFTW_FORWARD, FFTW_MEASURE);
  Api<T>::use(1);
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
  Api<T>::execute(plan_->handle);
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
