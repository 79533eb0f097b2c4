// SPDX-License-Identifier: MIT
// A user's program with papfft::fft: one process's transforms and the ranks' shared ones against the definition.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <papfft/fft.hpp>
#include <papfft/mpi.hpp>
#include <stdexcept>
#include <vector>

namespace {

using papfft::fft::Direction;
using Complex = std::complex<double>;

std::vector<Complex> dft(const std::vector<Complex>& x) {
  std::vector<Complex> result(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (std::size_t n = 0; n < x.size(); ++n) {
      result[k] += x[n] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(n * k % x.size()) /
                                              static_cast<double>(x.size()));
    }
  }
  return result;
}

template <typename A, typename B>
bool near(const A& a, const B& b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst < 1e-9;
}

template <typename Body>
bool is_refused(const Body& body) {
  try {
    body();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int wrong = 0;
  {
    papfft::comm::MpiSession session(MPI_COMM_WORLD);
    const std::size_t n = 60 * static_cast<std::size_t>(session.size());
    std::vector<Complex> samples(n);
    std::vector<double> real(n);
    std::vector<Complex> from_real(n);
    for (std::size_t i = 0; i < n; ++i) {
      samples[i] = {std::sin(static_cast<double>(i * i % 97)), std::cos(static_cast<double>(i))};
      from_real[i] = real[i] = samples[i].real();
    }
    const std::vector<Complex> bins = dft(samples);
    std::vector<Complex> half = dft(from_real);
    half.resize(n / 2 + 1);

    std::vector<Complex> out(n);
    std::vector<Complex> back(n);
    std::vector<double> real_back(n);
    papfft::fft::Fft<double>({.length = n}).execute(samples, out);
    papfft::fft::Fft<double>({.length = n, .direction = Direction::inverse}).execute(out, back);
    wrong += near(out, bins) && near(back, samples) ? 0 : 1;
    std::vector<Complex> out_half(half.size());
    papfft::fft::Fft<double>({.length = n, .real = true}).execute(real, out_half);
    papfft::fft::Fft<double>({.length = n, .direction = Direction::inverse, .real = true})
        .execute(out_half, real_back);
    wrong += near(out_half, half) && near(real_back, real) ? 0 : 1;

    papfft::fft::SharedFft<double> forward(session, {.length = n}, "auto", "bsls");
    papfft::fft::SharedFft<double> inverse(session, {.length = n, .direction = Direction::inverse});
    papfft::fft::SharedFft<double> real_forward(session, {.length = n, .real = true});
    papfft::fft::SharedFft<double> real_inverse(session,
                                                {.length = n, .direction = Direction::inverse, .real = true});
    for (int i = 0; i < 5; ++i) {
      std::ranges::fill(out, 0);
      forward.execute(samples, out);
      inverse.execute(out, back);
      real_forward.execute(real, out_half);
      real_inverse.execute(out_half, real_back);
      if (session.rank() > 0) continue;
      wrong +=
          near(out, bins) && near(back, samples) && near(out_half, half) && near(real_back, real) ? 0 : 1;
    }
    wrong += session.statistics().calls == 5 * 8 ? 0 : 1;
    wrong += is_refused([&] { papfft::fft::Fft<float> empty({.length = 0}); }) ? 0 : 1;
    wrong += is_refused([&] {
      papfft::fft::Fft<double>({.length = n}).execute(samples, {out.data(), n - 1});
    })
                 ? 0
                 : 1;
    wrong += is_refused([&] { papfft::fft::Fft<double>({.length = n}).execute(real, out); }) ? 0 : 1;
    wrong += session.size() == 1 ||
                     is_refused([&] { papfft::fft::SharedFft<double> no(session, {.length = n + 1}); })
                 ? 0
                 : 1;
    wrong += is_refused([&] {
      papfft::fft::SharedFft<double>(session, {.length = n}, "nonsense").execute(samples, out);
    })
                 ? 0
                 : 1;
    if (session.rank() == 0) std::printf("%d ranks, %d wrong\n", session.size(), wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
