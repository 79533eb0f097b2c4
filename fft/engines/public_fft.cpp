// SPDX-License-Identifier: MIT
// The public classes (papfft/fft.hpp) over LocalFft, RealFft and ParallelFft.
#include <optional>
#include <stdexcept>
#include <utility>

#include "fft/engines/parallel_fft.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "papfft/fft.hpp"
#include "papfft/session.hpp"

namespace papfft::fft {

namespace {

std::size_t samples_of(const Shape& shape) { return shape.length; }
std::size_t bins_of(const Shape& shape) { return shape.real ? shape.length / 2 + 1 : shape.length; }

/// Which of the three `execute` was called.
enum class Kind { complex, to_half_spectrum, from_half_spectrum };

Kind kind_of(const Shape& shape) {
  if (!shape.real) return Kind::complex;
  return shape.direction == Direction::forward ? Kind::to_half_spectrum : Kind::from_half_spectrum;
}

/// How many vectors the spans hold. @throws std::invalid_argument
std::size_t vectors(const Shape& shape, Kind called, std::size_t in_size, std::size_t out_size) {
  if (called != kind_of(shape)) throw std::invalid_argument("fft: execute: the shape is of another kind");
  const bool forward = shape.direction == Direction::forward;
  const std::size_t in_length = forward ? samples_of(shape) : bins_of(shape);
  const std::size_t out_length = forward ? bins_of(shape) : samples_of(shape);
  const std::size_t count = in_size / in_length;
  if (in_size % in_length != 0 || out_size != count * out_length) {
    throw std::invalid_argument("fft: execute: vectors of " + std::to_string(in_length) + " and " +
                                std::to_string(out_length) + " elements do not fit " +
                                std::to_string(in_size) + " and " + std::to_string(out_size));
  }
  return count;
}

template <typename Element>
void scale_by(std::span<Element> data, double factor) {
  using Real = decltype(std::abs(Element{}));
  for (Element& element : data) element *= static_cast<Real>(factor);
}

/// Tells a session how this rank's transform proceeds.
class SessionWatch final : public ParallelObserver {
 public:
  explicit SessionWatch(comm::Session& session) : session_(session) {}
  void compute_begins() override { session_.processing_start(); }
  void compute_reaches(double fraction) override { session_.edge(fraction); }
  void compute_ends() override { session_.processing_end(); }
  void gather_ends() override {}

 private:
  comm::Session& session_;
};

}  // namespace

template <typename T>
struct Fft<T>::Body {
  explicit Body(const Shape& shape_in) : shape(shape_in) {
    if (shape.real) {
      real.emplace(shape.length);
    } else {
      complex.emplace(shape.length, shape.direction);
    }
  }
  /// Of inverse transforms.
  [[nodiscard]] double factor() const { return 1 / static_cast<double>(shape.length); }

  Shape shape;
  std::optional<LocalFft<T>> complex;
  std::optional<RealFft<T>> real;
};

template <typename T>
Fft<T>::Fft(const Shape& shape) : body_(std::make_unique<Body>(shape)) {}
template <typename T>
Fft<T>::Fft(Fft&&) noexcept = default;
template <typename T>
Fft<T>& Fft<T>::operator=(Fft&&) noexcept = default;
template <typename T>
Fft<T>::~Fft() = default;

template <typename T>
void Fft<T>::execute(std::span<const Complex> in, std::span<Complex> out) {
  const std::size_t count = vectors(body_->shape, Kind::complex, in.size(), out.size());
  body_->complex->execute(in.data(), out.data(), count);
  if (body_->shape.direction == Direction::inverse) scale_by(out, body_->factor());
}

template <typename T>
void Fft<T>::execute(std::span<const T> in, std::span<Complex> half_spectra) {
  const std::size_t count = vectors(body_->shape, Kind::to_half_spectrum, in.size(), half_spectra.size());
  body_->real->forward(in.data(), half_spectra.data(), count);
}

template <typename T>
void Fft<T>::execute(std::span<const Complex> half_spectra, std::span<T> out) {
  const std::size_t count = vectors(body_->shape, Kind::from_half_spectrum, half_spectra.size(), out.size());
  body_->real->inverse(half_spectra.data(), out.data(), count);
  scale_by(out, body_->factor());
}

template <typename T>
struct SharedFft<T>::Body {
  Body(comm::Collectives& comm, const Shape& shape_in, const std::string& scatter, const std::string& gather)
      : is_root(comm.rank() == 0),
        shape(shape_in),
        fft(comm, {.length = shape.length,
                   .direction = shape.direction,
                   .real = shape.real,
                   .scatter = scatter,
                   .gather = gather}) {
    if (auto* session = dynamic_cast<comm::Session*>(&comm)) fft.observe(&watch.emplace(*session));
  }

  template <typename In, typename Out>
  void execute(Kind called, std::span<const In> in, std::span<Out> out) {
    if (is_root && vectors(shape, called, in.size(), out.size()) != 1) {
      throw std::invalid_argument("fft: execute: one vector at a time");
    }
    fft.execute(in.data(), out.data());
  }

  bool is_root;
  Shape shape;
  ParallelFft<T> fft;
  std::optional<SessionWatch> watch;
};

template <typename T>
SharedFft<T>::SharedFft(comm::Collectives& comm, const Shape& shape, const std::string& scatter,
                        const std::string& gather)
    : body_(std::make_unique<Body>(comm, shape, scatter, gather)) {}
template <typename T>
SharedFft<T>::SharedFft(SharedFft&&) noexcept = default;
template <typename T>
SharedFft<T>& SharedFft<T>::operator=(SharedFft&&) noexcept = default;
template <typename T>
SharedFft<T>::~SharedFft() = default;

template <typename T>
void SharedFft<T>::execute(std::span<const Complex> in, std::span<Complex> out) {
  body_->execute(Kind::complex, in, out);
}
template <typename T>
void SharedFft<T>::execute(std::span<const T> in, std::span<Complex> half_spectrum) {
  body_->execute(Kind::to_half_spectrum, in, half_spectrum);
}
template <typename T>
void SharedFft<T>::execute(std::span<const Complex> half_spectrum, std::span<T> out) {
  body_->execute(Kind::from_half_spectrum, half_spectrum, out);
}

template class Fft<float>;
template class Fft<double>;
template class SharedFft<float>;
template class SharedFft<double>;

}  // namespace papfft::fft
