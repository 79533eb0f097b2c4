// SPDX-License-Identifier: MIT
#include "fft/local/local_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "fft/kernel/power_of_two.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "fft/local/tuning.hpp"

namespace papfft::fft {
namespace {

using Clock = std::chrono::steady_clock;

bool is_real(PlanKind kind) { return kind == PlanKind::real_forward || kind == PlanKind::real_inverse; }

bool own_supports(PlanKind kind, std::size_t length) {
  return is_real(kind) ? PowerOfTwoRealFft<double>::supports(length)
                       : PowerOfTwoFft<double>::supports(length);
}

/// The length from which on the own kernels are faster than FFTW with SSE2 and AVX.
std::size_t shortest_for_own(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx512:
      return 1;
    case InstructionSet::avx2:
      return std::size_t{1} << 13U;
    case InstructionSet::portable:
      break;
  }
  return std::size_t{1} << 17U;
}

}  // namespace

std::string_view to_string(LocalKernel kernel) noexcept {
  switch (kernel) {
    case LocalKernel::fftw:
      return "fftw";
    case LocalKernel::pieces:
      return "pieces";
    case LocalKernel::own:
      break;
  }
  return "own";
}

std::string_view to_string(PlanKind kind) noexcept {
  switch (kind) {
    case PlanKind::complex_forward:
      return "complex-forward";
    case PlanKind::complex_inverse:
      return "complex-inverse";
    case PlanKind::real_forward:
      return "real-forward";
    case PlanKind::real_inverse:
      break;
  }
  return "real-inverse";
}

std::size_t pieces_of(std::size_t length) noexcept {
  constexpr std::size_t kLong = std::size_t{1} << 16U;
  constexpr std::size_t kVeryLong = std::size_t{1} << 20U;
  if (length >= kVeryLong && length % 16 == 0) return 16;
  return length >= kLong && length % 8 == 0 ? 8 : 1;
}

std::vector<LocalKernel> possible_kernels(PlanKind kind, std::size_t length) {
  std::vector<LocalKernel> kernels = {LocalKernel::fftw};
  if (!is_real(kind) && pieces_of(length) > 1) kernels.push_back(LocalKernel::pieces);
  if (own_supports(kind, length)) kernels.push_back(LocalKernel::own);
  return kernels;
}

LocalKernel default_kernel(PlanKind kind, std::size_t length) {
  if (own_supports(kind, length) && length >= shortest_for_own(instruction_sets().back()))
    return LocalKernel::own;
  return is_real(kind) || pieces_of(length) == 1 ? LocalKernel::fftw : LocalKernel::pieces;
}

template <typename T>
LocalKernel tuned_kernel(const Tuning& tuning, PlanKind kind, std::size_t length) {
  const auto kernels = possible_kernels(kind, length);
  const auto remembered = tuning.find(Tuning::key<T>(kind, length));
  const bool possible = remembered && std::find(kernels.begin(), kernels.end(), *remembered) != kernels.end();
  return possible ? *remembered : default_kernel(kind, length);
}

template <typename T>
LocalKernel choose_kernel(PlanKind kind, std::size_t length, Rigor rigor) {
  if (rigor == Rigor::estimate) return default_kernel(kind, length);
  if (rigor == Rigor::tuned) return tuned_kernel<T>(Tuning::of_user(), kind, length);
  static std::mutex mutex;
  static std::map<std::pair<PlanKind, std::size_t>, LocalKernel> measured;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = measured.try_emplace({kind, length}, LocalKernel::fftw);
  if (is_new && possible_kernels(kind, length).size() > 1) {
    entry->second = fastest(time_kernels<T>(kind, length, 0.02));
  }
  return entry->second;
}

template <typename T>
std::function<void()> repeatable_transform(LocalKernel kernel, PlanKind kind, std::size_t length) {
  using Complex = std::complex<T>;
  const std::size_t size = is_real(kind) ? length / 2 + 1 : length;
  auto in = std::make_shared<Buffer<Complex>>(size);
  auto out = std::make_shared<Buffer<Complex>>(size);
  // Neither zeros nor denormal numbers, which some processors add faster or slower.
  for (std::size_t i = 0; i < size; ++i) {
    (*in)[i] = {static_cast<T>(static_cast<int>(i % 17) - 8) / 8,
                static_cast<T>(static_cast<int>(i % 13) - 6) / 8};
    (*out)[i] = {};
  }
  if (!is_real(kind)) {
    const Direction direction = kind == PlanKind::complex_forward ? Direction::forward : Direction::inverse;
    auto fft = std::make_shared<LocalFft<T>>(length, direction, kernel, Rigor::measure);
    return [=] { fft->execute(in->data(), out->data()); };
  }
  auto fft = std::make_shared<RealFft<T>>(length, kernel, Rigor::measure);
  if (kind == PlanKind::real_forward) {
    return [=] { fft->forward(reinterpret_cast<const T*>(in->data()), out->data()); };
  }
  return [=] { fft->inverse(in->data(), reinterpret_cast<T*>(out->data())); };
}

double seconds_of(const std::function<void()>& run, std::size_t calls) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < calls; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t calls_within(const std::function<void()>& run, double seconds) {
  std::size_t calls = 1;
  for (;;) {
    const double taken = seconds_of(run, calls);
    if (taken >= seconds) return calls;
    // Towards the goal, but not in one leap: short times are measured badly.
    const double factor = taken > 0 ? 1.2 * seconds / taken : 10;
    calls = static_cast<std::size_t>(static_cast<double>(calls) * std::min(factor, 10.0)) + 1;
  }
}

template <typename T>
std::vector<KernelTime> time_kernels(PlanKind kind, std::size_t length, double least_s) {
  std::vector<KernelTime> times;
  std::vector<std::function<void()>> runs;
  for (const LocalKernel kernel : possible_kernels(kind, length)) {
    times.push_back({kernel, 1e300});
    runs.push_back(repeatable_transform<T>(kernel, kind, length));
    runs.back()();
  }
  constexpr int kRounds = 10;
  std::vector<std::size_t> calls;
  calls.reserve(runs.size());
  for (const auto& run : runs) calls.push_back(calls_within(run, least_s / kRounds));
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t e = 0; e < runs.size(); ++e) {
      times[e].seconds =
          std::min(times[e].seconds, seconds_of(runs[e], calls[e]) / static_cast<double>(calls[e]));
    }
  }
  return times;
}

LocalKernel fastest(const std::vector<KernelTime>& times) {
  return std::min_element(times.begin(), times.end(),
                          [](const KernelTime& a, const KernelTime& b) { return a.seconds < b.seconds; })
      ->kernel;
}

template LocalKernel tuned_kernel<float>(const Tuning&, PlanKind, std::size_t);
template LocalKernel tuned_kernel<double>(const Tuning&, PlanKind, std::size_t);
template LocalKernel choose_kernel<float>(PlanKind, std::size_t, Rigor);
template LocalKernel choose_kernel<double>(PlanKind, std::size_t, Rigor);
template std::function<void()> repeatable_transform<float>(LocalKernel, PlanKind, std::size_t);
template std::function<void()> repeatable_transform<double>(LocalKernel, PlanKind, std::size_t);
template std::vector<KernelTime> time_kernels<float>(PlanKind, std::size_t, double);
template std::vector<KernelTime> time_kernels<double>(PlanKind, std::size_t, double);

}  // namespace papfft::fft
