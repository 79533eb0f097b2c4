// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "app/cli/tell.hpp"
#include "app/jobs/early_end.hpp"
#include "app/jobs/one_process.hpp"
#include "app/jobs/transform_plan.hpp"
#include "app/jobs/vector_sink.hpp"
#include "app/jobs/vector_source.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/job.hpp"
#include "app/run/run_report.hpp"
#include "fft/engines/farm_fft.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/stream_fft.hpp"
#include "fft/engines/turns.hpp"

namespace papfft::app {

/// How long to wait for a pipe before looking for something else to do, such as to stop.
constexpr auto kPatience = std::chrono::milliseconds(50);

/// A vector as N complex samples. @param room  for N, used if it is not one already
template <typename In, typename Out>
[[nodiscard]] auto as_complex(const In* vector, std::uint64_t length,
                              std::vector<typename TransformShape<In, Out>::Complex>& room) {
  using Shape = TransformShape<In, Out>;
  const typename Shape::Complex* result = room.data();
  if constexpr (Shape::kRealIn) {
    std::copy_n(vector, length, room.begin());
  } else if constexpr (Shape::kRealOut) {
    // The other half of the spectrum is the conjugate of this one.
    const std::uint64_t bins = Shape::bins(length);
    std::copy_n(vector, bins, room.begin());
    for (std::uint64_t k = bins; k < length; ++k) room[k] = std::conj(vector[length - k]);
    room[0] = room[0].real();
    if (length % 2 == 0) room[bins - 1] = room[bins - 1].real();
  } else {
    result = vector;
  }
  return result;
}

/// Moves vectors from a source through an engine to a sink.
template <typename In, typename Out>
class EngineRun {
 public:
  using Shape = TransformShape<In, Out>;
  using Real = typename Shape::Real;
  using Complex = typename Shape::Complex;

  /// All must outlive this object. @param source, sink  nullptr elsewhere than at the root
  EngineRun(Job& job, const TransformOptions& options, const TransformPlan& plan, VectorSource<In>* source,
            VectorSink<Out>* sink, RunReport& report)
      : job_(job), options_(options), plan_(plan), source_(source), sink_(sink), report_(report) {}

  /// Collective.
  void run() {
    Progress progress = options_.job.make_progress(job_.is_root(), "transform");
    progress_ = &progress;
    const bool overlaps = plan_.engine == Engine::stream;
    const bool shares = overlaps || plan_.engine == Engine::dif;
    ArrivalAware arrivals(job_, options_.job, shares ? plan_.rows : 0,
                          {comm::Operation::scatter, comm::Operation::gather}, overlaps);
    switch (plan_.engine) {
      case Engine::alone:
        job_.at_root([&] { timed(report_, "compute", [&] { alone(arrivals.watch()); }); });
        return;
      case Engine::dif:
        plan_.many() ? in_turns(arrivals) : one_vector(arrivals);
        report_.arrivals = arrivals.finish();
        return;
      case Engine::stream:
        stream(arrivals);
        break;
      case Engine::farm:
        farm(arrivals);
        break;
      case Engine::slices:  // SlicesRun's
        throw std::logic_error("engine slices has no source of vectors");
    }
    (void)arrivals.finish();
  }

  [[nodiscard]] const fft::PhaseTimes& times() const { return times_; }
  /// Of engine alone, at the root.
  [[nodiscard]] fft::LocalKernel kernel() const { return kernel_; }

 private:
  [[nodiscard]] fft::ParallelPlan shared_plan(bool real) const {
    return {.length = plan_.length,
            .direction = options_.direction(),
            .real = real,
            .scatter = options_.job.scatter,
            .gather = options_.job.gather,
            .rigor = fft::Rigor::tuned};
  }

  /// The root, with all cores of its host. Short vectors go many at a time, unless each has a delay of its own.
  void alone(ComputeWatch& watch) {
    OneProcess<In, Out> transform(options_, plan_.length);
    kernel_ = transform.kernel();
    const std::size_t most =
        options_.job.arrivals.delays() ? 1 : RowReader<In>::longest_run(Shape::in(plan_.length));
    sink_->write_behind(most);
    while (true) {
      const auto run = source_->next_run(kPatience, most);
      if (run.offer.kind == fft::Offer<In>::Kind::later) continue;
      if (run.offer.vector == nullptr) break;
      Out* const out = sink_->room();
      watch.compute_begins();
      transform(run.offer.vector, out, run.rows);
      watch.compute_ends();
      sink_->pass(run.rows);
      progress_->show(sink_->done(), plan_.known_rows());
    }
    sink_->drain();
  }

  /// Straight from its place in memory to the result's.
  void one_vector(ArrivalAware& arrivals) {
    fft::ParallelFft<Real> parallel(arrivals.comm(), shared_plan(plan_.split_real != 0));
    parallel.observe(&arrivals.watch());
    const In* const in = job_.is_root() ? source_->first() : nullptr;
    Out* const out = job_.is_root() ? sink_->room() : nullptr;
    if (std::is_same_v<In, Out> || plan_.split_real != 0) {
      parallel.execute(in, out);
    } else {
      std::vector<Complex> room(job_.is_root() ? plan_.length : 0);
      std::vector<Complex> result(room.size());
      parallel.execute(in == nullptr ? room.data() : as_complex<In, Out>(in, plan_.length, room),
                       result.data());
      if (job_.is_root()) from_complex(result.data(), out);
    }
    if (job_.is_root()) sink_->pass(1);
    progress_->show(1, 1);
    times_ = parallel.times();
  }

  void in_turns(ArrivalAware& arrivals) {
    const bool real = plan_.split_real != 0;
    fft::TurnsFft<Real> turns(arrivals.comm(), job_.comm(), shared_plan(real));
    one_by_one(turns, arrivals, real, kPatience);
  }

  void stream(ArrivalAware& arrivals) {
    const bool real = plan_.split_real != 0;
    fft::StreamFft<Real> stream(arrivals.comm(), shared_plan(real));
    one_by_one(stream, arrivals, real);
  }

  void farm(ArrivalAware& arrivals) {
    constexpr bool kReal = !std::is_same_v<In, Out>;
    fft::FarmFft<Real> farm(arrivals.comm(), shared_plan(kReal));
    one_by_one(farm, arrivals, kReal);
  }

  /// Many vectors, given and taken one by one. A signal ends it after those under way.
  /// @param real  the engine takes and gives In and Out; else complex vectors
  /// @param patience  of who has nothing else to do than to wait for the next
  template <typename Vectors>
  void one_by_one(Vectors& engine, ArrivalAware& arrivals, bool real,
                  std::chrono::milliseconds patience = {}) {
    engine.observe(&arrivals.watch());
    job_.keep_results_by([this] { keep_what_is_done(); });
    try {
      if (std::is_same_v<In, Out> || real) {
        run_as<In, Out>(
            engine, [&] { return source_->next(patience); }, [&](const Out* result) { take(result); });
      } else {
        through_complex(engine, patience);
      }
    } catch (const Quit&) {
      job_.keep_results_by({});
      throw;
    } catch (const comm::StuckError& stuck) {
      job_.end_stuck(stuck);
    } catch (...) {
      end_job(std::current_exception());
    }
    job_.keep_results_by({});
    times_ = engine.times();
  }

  /// At once, while the buffers are there: MPI may still read them, and any call moves its messages on.
  [[noreturn]] void end_job(const std::exception_ptr& why) {
    const int code = report_exception(why);
    if (code == kCommunication && job_.is_root()) keep_what_is_done();
    abort_job(code);
    throw Quit{code};
  }

  template <typename From, typename To, typename Vectors, typename Next, typename Take>
  static void run_as(Vectors& engine, const Next& next, const Take& take) {
    engine.run(typename fft::StreamFft<Real>::template Source<From>(next),
               typename fft::StreamFft<Real>::template Sink<To>(take));
  }

  template <typename Vectors>
  void through_complex(Vectors& engine, std::chrono::milliseconds patience) {
    using Offer = fft::Offer<Complex>;
    std::vector<Complex> room(job_.is_root() ? plan_.length : 0);
    std::vector<Out> result(job_.is_root() ? Shape::out(plan_.length) : 0);
    run_as<Complex, Complex>(
        engine,
        [&] {
          const fft::Offer<In> offer = source_->next(patience);
          if (offer.vector == nullptr) return Offer{static_cast<typename Offer::Kind>(offer.kind)};
          return Offer::of(as_complex<In, Out>(offer.vector, plan_.length, room));
        },
        [&](const Complex* x) {
          from_complex(x, result.data());
          take(result.data());
        });
  }

  void from_complex(const Complex* x, Out* out) const {
    if constexpr (Shape::kRealOut) {
      std::transform(x, x + plan_.length, out, [](const Complex& z) { return z.real(); });
    } else {
      std::copy_n(x, Shape::out(plan_.length), out);
    }
  }

  void take(const Out* result) {
    sink_->take(result);
    progress_->show(sink_->done(), plan_.known_rows());
  }

  /// The job is about to be ended by a communication that failed, which spoils none of the results before.
  void keep_what_is_done() {
    if (sink_->files() == nullptr || sink_->done() == 0) return;
    try {
      sink_->finish(options_.resume);
      tell("papfft: note: {}\n", EarlyEnd::kept_text({.count = sink_->done(),
                                                      .kept = options_.resume ? EarlyEnd::Kept::for_resume
                                                                              : EarlyEnd::Kept::in_output}));
    } catch (const io::OutputError& e) {
      tell("papfft: {}\n", e.what());
    }
  }

  Job& job_;
  const TransformOptions& options_;
  const TransformPlan& plan_;
  VectorSource<In>* source_;
  VectorSink<Out>* sink_;
  RunReport& report_;
  Progress* progress_ = nullptr;  // during run()
  fft::PhaseTimes times_;
  fft::LocalKernel kernel_ = fft::LocalKernel::fftw;
};

}  // namespace papfft::app
