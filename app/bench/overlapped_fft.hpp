// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>
#include <omp.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "comm/mpi/mpi_transport.hpp"
#include "fft/engines/shared_transform.hpp"
#include "fft/engines/stream_fft.hpp"
#include "fft/engines/timer.hpp"

namespace papfft::app {

/// What an expert would write with MPI and FFTW alone: MPI_Iscatter, FFTW, MPI_Igather, with up to three vectors under way. While
/// one is transformed, the next is on its way out and the one before on its way back. Open MPI has one algorithm for these two
/// calls, so there is none to choose. Rank 0 is the root.
template <typename T>
class OverlappedFft {
 public:
  using Complex = std::complex<T>;

  /// @param comm  must outlive this object. @param plan  its scatter and gather are not looked at
  OverlappedFft(MPI_Comm comm, const fft::ParallelPlan& plan, int rank, int ranks)
      : comm_(comm), is_root_(rank == 0), transform_(plan, rank, ranks) {
    const std::size_t all = is_root_ ? transform_.parts() * transform_.block_length() : 0;
    for (Slot& slot : slots_) {
      slot.out = fft::Buffer<Complex>(all);
      slot.back = fft::Buffer<Complex>(all);
      slot.block = fft::Buffer<Complex>(transform_.block_length());
      slot.spectrum = fft::Buffer<Complex>(transform_.block_length());
    }
    result_ = fft::Buffer<Complex>(is_root_ ? plan.length : 0);
  }

  void observe(fft::ParallelObserver* observer) { mover_.inner = observer; }
  [[nodiscard]] const fft::PhaseTimes& times() const { return times_; }

  /// Collective. @param source  gives the same number of vectors on every rank. @param sink  takes each result, at the root
  template <typename Source, typename Sink>
  void run(Source source, Sink sink) {
    std::uint64_t begun = 0;
    std::uint64_t computed = 0;
    std::uint64_t finished = 0;
    for (bool ended = false; !ended || finished < begun;) {
      while (!ended && begun - computed < 2 && begun - finished < slots_.size()) {
        auto offer = source();
        ended = offer.kind == decltype(offer)::Kind::end;
        if (!ended) begin(slot_of(begun++), offer.vector);
      }
      if (computed < begun) compute(slot_of(computed++));
      const bool is_full = begun - finished == slots_.size();
      if (finished < computed && (is_full || ended)) finish(slot_of(finished++), sink);
    }
  }

 private:
  struct Slot {
    fft::Buffer<Complex> out;  // at the root: the blocks on their way to the ranks
    fft::Buffer<Complex> back;
    fft::Buffer<Complex> block;
    fft::Buffer<Complex> spectrum;
    MPI_Request scatter = MPI_REQUEST_NULL;
    MPI_Request gather = MPI_REQUEST_NULL;
  };

  /// Moves messages on while a vector is transformed: Open MPI does it within its calls alone.
  struct Mover final : fft::ParallelObserver {
    explicit Mover(std::array<Slot, 3>& all) : slots(all) {}
    void compute_begins() override { inner->compute_begins(); }
    void compute_reaches(double fraction) override {
      inner->compute_reaches(fraction);
      if (omp_get_thread_num() != 0) return;
      for (Slot& slot : slots) {
        int done = 0;
        PAPFFT_MPI(MPI_Test, &slot.scatter, &done, MPI_STATUS_IGNORE);
        PAPFFT_MPI(MPI_Test, &slot.gather, &done, MPI_STATUS_IGNORE);
      }
    }
    void compute_ends() override { inner->compute_ends(); }
    void gather_ends() override { inner->gather_ends(); }
    void phase_lasted(const char* name, TimePoint begin, TimePoint end) noexcept override {
      inner->phase_lasted(name, begin, end);
    }

    std::array<Slot, 3>& slots;
    fft::ParallelObserver* inner = nullptr;
  };

  [[nodiscard]] Slot& slot_of(std::uint64_t vector) { return slots_[vector % slots_.size()]; }
  [[nodiscard]] int bytes() const { return static_cast<int>(transform_.block_length() * sizeof(Complex)); }

  template <typename Sample>
  void begin(Slot& slot, const Sample* samples) {
    if (is_root_) {
      const fft::Timer timer(times_.split_s, mover_.inner, "split");
      transform_.split(samples, transform_.blocks_of(slot.out.data()));
    }
    PAPFFT_MPI(MPI_Iscatter, slot.out.data(), bytes(), MPI_BYTE, slot.block.data(), bytes(), MPI_BYTE, 0,
               comm_, &slot.scatter);
  }

  void compute(Slot& slot) {
    {
      const fft::Timer timer(times_.scatter_s, mover_.inner, "scatter");
      PAPFFT_MPI(MPI_Wait, &slot.scatter, MPI_STATUS_IGNORE);
    }
    {
      const fft::Timer timer(times_.compute_s);
      transform_.compute(slot.block.data(), slot.spectrum.data(), &mover_);
    }
    PAPFFT_MPI(MPI_Igather, slot.spectrum.data(), bytes(), MPI_BYTE, slot.back.data(), bytes(), MPI_BYTE, 0,
               comm_, &slot.gather);
  }

  template <typename Sink>
  void finish(Slot& slot, const Sink& sink) {
    {
      const fft::Timer timer(times_.gather_s, mover_.inner, "gather");
      PAPFFT_MPI(MPI_Wait, &slot.gather, MPI_STATUS_IGNORE);
    }
    if (!is_root_) return;
    {
      const fft::Timer timer(times_.assemble_s, mover_.inner, "assemble");
      transform_.assemble(transform_.template blocks_of<const Complex*>(slot.back.data()), result_.data());
    }
    sink(result_.data());
  }

  MPI_Comm comm_;
  bool is_root_;
  fft::SharedTransform<T> transform_;
  std::array<Slot, 3> slots_;
  fft::Buffer<Complex> result_;
  Mover mover_{slots_};
  fft::PhaseTimes times_;
};

}  // namespace papfft::app
