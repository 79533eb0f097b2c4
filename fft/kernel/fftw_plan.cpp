// SPDX-License-Identifier: MIT
#include "fft/kernel/fftw_plan.hpp"

#include <fftw3.h>

#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "fft/kernel/types.hpp"

namespace papfft::fft {
namespace {

/// FFTW's names for one precision; the same members for both.
template <typename T>
struct Api;

#define PAPFFT_FFTW_API(T, PREFIX)                                            \
  template <>                                                                 \
  struct Api<T> {                                                             \
    using Complex = PREFIX##_complex;                                         \
    static constexpr auto plan_complex = PREFIX##_plan_dft_1d;                \
    static constexpr auto plan_real_forward = PREFIX##_plan_dft_r2c_1d;       \
    static constexpr auto plan_real_inverse = PREFIX##_plan_dft_c2r_1d;       \
    static constexpr auto destroy = PREFIX##_destroy_plan;                    \
    static constexpr auto execute_complex = PREFIX##_execute_dft;             \
    static constexpr auto execute_real_forward = PREFIX##_execute_dft_r2c;    \
    static constexpr auto execute_real_inverse = PREFIX##_execute_dft_c2r;    \
    static constexpr auto alignment_of = PREFIX##_alignment_of;               \
    static constexpr auto export_wisdom = PREFIX##_export_wisdom_to_string;   \
    static constexpr auto import_wisdom = PREFIX##_import_wisdom_from_string; \
    static constexpr auto forget_wisdom = PREFIX##_forget_wisdom;             \
    static constexpr auto release = PREFIX##_free;                            \
  };
PAPFFT_FFTW_API(float, fftwf)
PAPFFT_FFTW_API(double, fftw)
#undef PAPFFT_FFTW_API

/// Guards FFTW's planner (and plan destruction and wisdom), which is not safe for threads. Never destroyed: plans held
/// by static objects may outlive every other static.
std::mutex& planner_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

template <typename T>
typename Api<T>::Complex* fftw_cast(std::complex<T>* z) noexcept {
  return reinterpret_cast<typename Api<T>::Complex*>(z);
}

template <typename T>
std::string wisdom_text() {
  const std::unique_ptr<char, void (*)(void*)> text(Api<T>::export_wisdom(), Api<T>::release);
  if (!text) throw std::bad_alloc();
  return text.get();
}

template <typename T>
auto make_plan(PlanKind kind, int length, unsigned flags) {
  const auto size = static_cast<std::size_t>(length);
  Buffer<std::complex<T>> a(size + 1);
  Buffer<std::complex<T>> b(size + 1);
  auto* const a_real = reinterpret_cast<T*>(a.data());
  auto* const b_real = reinterpret_cast<T*>(b.data());
  switch (kind) {
    case PlanKind::real_forward:
      return Api<T>::plan_real_forward(length, a_real, fftw_cast(b.data()), flags);
    case PlanKind::real_inverse:
      return Api<T>::plan_real_inverse(length, fftw_cast(a.data()), b_real, flags | FFTW_DESTROY_INPUT);
    case PlanKind::complex_forward:
    case PlanKind::complex_inverse:
      break;
  }
  const int sign = kind == PlanKind::complex_forward ? FFTW_FORWARD : FFTW_BACKWARD;
  return Api<T>::plan_complex(length, fftw_cast(a.data()), fftw_cast(b.data()), sign, flags);
}

/// Wisdom overrules FFTW_ESTIMATE, so an estimated plan is made with the wisdom put aside.
template <typename T>
auto make_estimated_plan(PlanKind kind, int length) {
  const std::string wisdom = wisdom_text<T>();
  Api<T>::forget_wisdom();
  const auto plan = make_plan<T>(kind, length, FFTW_ESTIMATE);
  Api<T>::forget_wisdom();
  Api<T>::import_wisdom(wisdom.c_str());
  return plan;
}

}  // namespace

template <typename T>
std::shared_ptr<const FftwPlan<T>> FftwPlan<T>::get(PlanKind kind, std::size_t length, Rigor rigor) {
  if (length == 0 || length >= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::invalid_argument("FftwPlan: the length must be positive and fit an int");
  }
  using Key = std::tuple<PlanKind, std::size_t, Rigor>;
  static std::map<Key, std::shared_ptr<const FftwPlan>> cache;
  const std::lock_guard lock(planner_mutex());
  auto& plan = cache[Key{kind, length, rigor}];
  if (!plan) {
    const auto n = static_cast<int>(length);
    Handle handle = nullptr;
    if (rigor == Rigor::measure) handle = make_plan<T>(kind, n, FFTW_MEASURE);
    if (rigor == Rigor::tuned) handle = make_plan<T>(kind, n, FFTW_MEASURE | FFTW_WISDOM_ONLY);
    if (rigor == Rigor::estimate || (rigor == Rigor::tuned && handle == nullptr)) {
      handle = make_estimated_plan<T>(kind, n);
    }
    if (handle == nullptr) throw std::runtime_error("FFTW cannot plan length " + std::to_string(length));
    plan.reset(new FftwPlan(handle));
  }
  return plan;
}

template <typename T>
FftwPlan<T>::~FftwPlan() {
  // The cache keeps every plan until the process ends, so nobody holds the planner's lock here.
  const std::lock_guard lock(planner_mutex());
  Api<T>::destroy(handle_);
}

template <typename T>
bool FftwPlan<T>::is_aligned(const void* pointer) noexcept {
  return Api<T>::alignment_of(static_cast<T*>(const_cast<void*>(pointer))) == 0;
}

template <typename T>
void FftwPlan<T>::execute(const Complex* in, Complex* out) const noexcept {
  Api<T>::execute_complex(handle_, fftw_cast(const_cast<Complex*>(in)), fftw_cast(out));
}

template <typename T>
void FftwPlan<T>::execute(const T* in, Complex* out) const noexcept {
  Api<T>::execute_real_forward(handle_, const_cast<T*>(in), fftw_cast(out));
}

template <typename T>
void FftwPlan<T>::execute(Complex* in, T* out) const noexcept {
  Api<T>::execute_real_inverse(handle_, fftw_cast(in), out);
}

template <typename T>
std::string export_wisdom() {
  const std::lock_guard lock(planner_mutex());
  return wisdom_text<T>();
}

template <typename T>
void import_wisdom(const std::string& wisdom) {
  const std::lock_guard lock(planner_mutex());
  if (Api<T>::import_wisdom(wisdom.c_str()) == 0) throw std::invalid_argument("this is not FFTW wisdom");
}

template class FftwPlan<float>;
template class FftwPlan<double>;
template std::string export_wisdom<float>();
template std::string export_wisdom<double>();
template void import_wisdom<float>(const std::string&);
template void import_wisdom<double>(const std::string&);

}  // namespace papfft::fft
