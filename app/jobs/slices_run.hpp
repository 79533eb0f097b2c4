// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/io/placed_file.hpp"
#include "app/io/shares.hpp"
#include "app/io/source.hpp"
#include "app/jobs/distributed_output.hpp"
#include "app/jobs/names_of_root.hpp"
#include "app/jobs/transform_plan.hpp"
#include "app/run/job.hpp"
#include "app/run/memory.hpp"
#include "app/run/run_report.hpp"
#include "fft/engines/real_pairs_inverse_fft.hpp"
#include "fft/engines/real_slices_fft.hpp"
#include "fft/engines/slices_fft.hpp"

namespace papfft::app {

/// Transforms of vectors that no rank holds: every rank reads its pieces of the input itself, and writes its part of the result, to
/// one file that all see, or to a file of its own.
template <typename In, typename Out>
class SlicesRun {
 public:
  using Shape = TransformShape<In, Out>;
  using Real = typename Shape::Real;
  using Complex = typename Shape::Complex;

  /// All must outlive this object. @param input  nullptr: this rank opens it itself
  SlicesRun(Job& job, const TransformOptions& options, const TransformPlan& plan,
            std::shared_ptr<io::Source> input, RunReport& report)
      : job_(job), options_(options), plan_(plan), input_(std::move(input)), report_(report) {}

  /// Collective, before run(): opens input and outputs on every rank, and takes the memory.
  /// @param insist  a rank that fails ends the job. @return whether none has failed
  [[nodiscard]] bool open(bool insist) {
    const auto each = [&](const std::function<void()>& work) {
      if (!insist) return job_.succeeds_everywhere(work);
      job_.on_every_rank(work);
      return true;
    };
    if (!each([&] { open_input(); }) || !each([&] { take_memory(); }) || !each([&] { make_outputs(); })) {
      return false;
    }
    if (options_.file_per_rank()) return true;
    const auto names =
        names_of_root(job_, job_.is_root() ? files_->temporaries() : std::vector<std::string>());
    return each([&] { join_outputs(names); });
  }

  /// Collective. Nothing is left behind if a rank fails.
  void run() {
    Progress progress = options_.job.make_progress(job_.is_root(), "transform");
    for (std::uint64_t row = 0; row < plan_.rows; ++row) {
      std::exception_ptr failure;
      const auto unless_failed = [&](const char* what, double& sum_s, const auto& work) {
        if (failure) return;
        try {
          clocked(report_, what, sum_s, work);
        } catch (...) {
          failure = std::current_exception();  // the others need this rank's messages until all can be told
        }
      };
      with_fft([&]<typename Fft>(Fft& fft) {
        using Element = std::conditional_t<kIsReal<Fft>, In, Complex>;
        fft.execute([&](std::uint64_t first, std::span<Element> elements) {
          unless_failed("read", read_s_, [&] { read(row, first, elements); });
          if (failure) std::ranges::fill(elements, Element{});
        });
      });
      tell_failure(failure);
      if (options_.leave_distributed) {
        unless_failed("write", write_s_, [&] { with_fft([&](auto& fft) { leave(row, fft); }); });
      } else {
        with_fft([&]<typename Fft>(Fft& fft) {
          using Result = std::conditional_t<kIsComplex<Fft>, Complex, Out>;
          fft.put_in_order([&](std::uint64_t first, std::span<const Result> results) {
            unless_failed("write", write_s_, [&] { write_in_order(row, first, results); });
          });
        });
      }
      tell_failure(failure);
      if (options_.parts) pass_last_bin(row);
      progress.show(row + 1, plan_.rows);
    }
    finish();
  }

  [[nodiscard]] const fft::PhaseTimes& times() const {
    return with_fft([](const auto& fft) -> const fft::PhaseTimes& { return fft.times(); });
  }
  [[nodiscard]] fft::LocalKernel kernel() const {
    return with_fft([](const auto& fft) { return fft.kernel(); });
  }
  /// Of the samples that this rank has read.
  [[nodiscard]] std::uint64_t non_finite() const { return non_finite_; }
  /// Where this rank's time went, by name.
  [[nodiscard]] std::vector<std::pair<std::string, double>> phases() const {
    const fft::PhaseTimes& t = times();
    std::vector<std::pair<std::string, double>> phases = {{"read", read_s_},
                                                          {"split", t.split_s - read_s_},
                                                          {"all-to-all", t.scatter_s},
                                                          {"compute", t.compute_s}};
    if (!options_.leave_distributed) {
      phases.emplace_back("2nd all-to-all", t.gather_s);
      phases.emplace_back("assemble", t.assemble_s - write_s_);
    }
    phases.emplace_back("write", write_s_ + finish_s_);
    return phases;
  }

 private:
  using Files = io::PlacedFiles<Out>;
  using ComplexFft = fft::SlicesFft<Real>;
  using RealFft = fft::RealSlicesFft<Real>;
  using PairsFft = fft::RealPairsInverseFft<Real>;
  /// The latter two share real samples as such: the last one where each rank keeps some of them.
  using AnyFft = std::conditional_t<
      Shape::kRealOut, std::variant<ComplexFft, RealFft, PairsFft>,
      std::conditional_t<Shape::kRealIn, std::variant<ComplexFft, RealFft>, std::variant<ComplexFft>>>;
  template <typename Fft>
  static constexpr bool kIsComplex = std::is_same_v<Fft, ComplexFft>;
  template <typename Fft>
  static constexpr bool kIsReal = std::is_same_v<Fft, RealFft>;

  void open_input() {
    if (input_ == nullptr) input_ = options_.io.open();
    const io::SignalInfo& info = input_->info();
    if (!info.any_order || input_->sample_count() != plan_.rows * plan_.stored) {
      throw io::DataError(
          input_->name(),
          "is another file here than on rank 0; what would work: a file that all ranks see, or " +
              way_without_slices(options_));
    }
  }

  /// Of the transform that fits the samples, and what is done with the result.
  void take_memory() {
    if (plan_.split_real == 0) return make_fft<ComplexFft>();
    if constexpr (Shape::kRealOut) {
      if (options_.file_per_rank()) return make_fft<PairsFft>();
    }
    if constexpr (Shape::kRealIn || Shape::kRealOut) make_fft<RealFft>();
  }

  template <typename Fft>
  void make_fft() {
    const std::uint64_t need = Fft::memory_bytes(plan_.length, ranks());
    const std::uint64_t there = available_memory_bytes(job_.comm().ranks_on_host());
    if (need > there) {
      throw MemoryError(fmt::format(
          "{}: a transform of {} samples by {} needs {} of memory on each, and rank {} has {}; what would "
          "work: {}{}",
          input_->name(), plan_.length, counted(ranks(), "rank"), memory_text(need), job_.rank(),
          memory_text(there), enough_ranks<Real>(plan_.length, there), precision_hint<Real>()));
    }
    const fft::SlicesPlan how{
        .length = plan_.length, .direction = options_.direction(), .rigor = fft::Rigor::tuned};
    fft_ = std::make_unique<AnyFft>(std::in_place_type<Fft>, job_.comm(), how);
  }

  /// Calls work(the transform of this kind of samples).
  template <typename Work>
  decltype(auto) with_fft(const Work& work) const {
    return std::visit(work, *fft_);
  }

  [[nodiscard]] std::vector<std::uint64_t> shape(std::uint64_t length) const {
    return plan_.matrix != 0 ? std::vector<std::uint64_t>{plan_.rows, length}
                             : std::vector<std::uint64_t>{length};
  }

  /// Those of this rank; if all write to the same, the root's.
  void make_outputs() {
    if (options_.file_per_rank()) {
      std::vector<std::string> paths;
      for (const std::string& path : options_.io.out) paths.push_back(path_of_rank(path, job_.rank()));
      files_ = std::make_unique<Files>(paths, shape(mine()));
    } else if (job_.is_root()) {
      files_ = std::make_unique<Files>(options_.io.out, shape(Shape::out(plan_.length)));
    }
  }

  /// @param names  under which the root writes its files
  void join_outputs(const std::vector<std::string>& names) {
    if (job_.is_root()) return;
    files_ = std::make_unique<Files>(options_.io.out, shape(Shape::out(plan_.length)), names);
  }

  /// Elements of a vector, times what the results are to be multiplied by.
  template <typename Element>
  void read(std::uint64_t row, std::uint64_t first, std::span<Element> out) {
    read_whole(row, first, out);
    const auto factor = static_cast<Real>(norm_factor(options_, plan_.length));
    if (factor == 1) return;
    for (Element& z : out) z *= factor;
  }

  void read_whole(std::uint64_t row, std::uint64_t first, std::span<Real> out) {
    non_finite_ += read_stored(row, first, out);
  }

  /// Elements of a vector, which the input may have as half a spectrum.
  void read_whole(std::uint64_t row, std::uint64_t first, std::span<Complex> out) {
    if constexpr (!Shape::kRealOut) {
      non_finite_ += read_stored(row, first, out);
    } else {
      const std::uint64_t bins = Shape::bins(plan_.length);
      const auto direct =
          static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), bins - std::min(first, bins)));
      non_finite_ += read_stored(row, first, out.first(direct));
      // Bins that are their own mirror images are real.
      if (first == 0 && direct > 0) out[0] = out[0].real();
      if (plan_.length % 2 == 0 && direct > 0 && first + direct == bins)
        out[direct - 1] = out[direct - 1].real();
      const std::span<Complex> mirrored = out.subspan(direct);
      if (mirrored.empty()) return;
      (void)read_stored(row, plan_.length + 1 - first - out.size(), mirrored);
      std::ranges::reverse(mirrored);
      for (Complex& z : mirrored) z = std::conj(z);
    }
  }

  /// As they are in the input, and zeros where it has no more. @return how many are no finite numbers
  template <typename Element>
  std::uint64_t read_stored(std::uint64_t row, std::uint64_t first, std::span<Element> out) {
    const auto there = static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size(), plan_.stored - std::min(first, plan_.stored)));
    const std::size_t got = input_->template read<Element>(row * plan_.stored + first, out.first(there));
    std::ranges::fill(out.subspan(got), Element{});
    return io::count_non_finite<Element>(out.first(got));
  }

  /// Of elements [first, ...) of a result, those that it has; real samples' N/2+1 bins may have gone as N.
  template <typename Results>
  void write_in_order(std::uint64_t row, std::uint64_t first, Results results) {
    const std::uint64_t length = Shape::out(plan_.length);
    const auto there = results.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(results.size(), length - std::min(first, length))));
    if (!options_.parts) return write(row * length + first, there);
    if (there.empty()) return;
    if (first >= part_end(job_.rank())) {
      last_bin_ = there.front();
    } else {
      write(row * mine() + first - part_begin(job_.rank()), there);
    }
  }

  /// Collective. X[N/2] of real samples, which rank 0 has, belongs to the rank whose part ends with it.
  void pass_last_bin(std::uint64_t row) {
    if (!Shape::kRealIn || plan_.split_real == 0) return;
    std::int32_t is_passed = last_bin_ ? 1 : 0;
    if (job_.from_root(is_passed) == 0) return;
    const Complex bin = job_.from_root(last_bin_.value_or(Complex{}));
    const std::uint64_t length = Shape::out(plan_.length);
    job_.on_every_rank([&] {
      if (part_begin(job_.rank()) == length || part_end(job_.rank()) != length) return;
      write((row + 1) * mine() - 1, std::span<const Complex>(&bin, 1));
    });
  }

  /// Elements of a result in each rank's contiguous part, but the last one's.
  [[nodiscard]] std::uint64_t part_length() const {
    return with_fft([&]<typename Fft>(const Fft& fft) -> std::uint64_t {
      if constexpr (kIsReal<Fft>) return 2 * ranks() * fft::HalfSpectrumLayout(fft.layout()).width;
      return (kIsComplex<Fft> ? 1 : 2) * ranks() * fft.layout().width;
    });
  }
  [[nodiscard]] std::uint64_t part_begin(int rank) const {
    return std::min(static_cast<std::uint64_t>(rank) * part_length(), Shape::out(plan_.length));
  }
  [[nodiscard]] std::uint64_t part_end(int rank) const {
    return rank + 1 == job_.size() ? Shape::out(plan_.length) : part_begin(rank + 1);
  }

  /// Writes what this rank has of a result.
  void leave(std::uint64_t row, ComplexFft& fft) {
    write(row * mine(), std::span<const Complex>(fft.bins().first(mine())));
  }
  void leave(std::uint64_t row, RealFft& fft) {
    constexpr std::size_t kPiece = std::size_t{1} << 17U;
    std::vector<Complex> bins;
    for (std::size_t done = 0; done < mine(); done += bins.size()) {
      bins.resize(std::min(kPiece, mine() - done));
      fft.get_bins(done, bins);
      write(row * mine() + done, std::span<const Complex>(bins));
    }
  }
  void leave(std::uint64_t row, PairsFft& fft) { write(row * mine(), fft.samples()); }

  void write(std::uint64_t first, std::span<const Real> samples) {
    if constexpr (Shape::kRealOut) files_->write(first, samples);
  }

  void write(std::uint64_t first, std::span<const Complex> bins) {
    if (bins.empty()) return;
    if constexpr (Shape::kRealOut) {
      real_.resize(bins.size());
      std::ranges::transform(bins, real_.begin(), [](const Complex& z) { return z.real(); });
      files_->write(first, std::span<const Out>(real_));
    } else {
      files_->write(first, bins);
    }
  }

  /// Collective. @throws Quit, if there is a failure on any rank
  void tell_failure(const std::exception_ptr& failure) {
    job_.on_every_rank([&] {
      if (failure) std::rethrow_exception(failure);
    });
  }

  /// What all see appears when all have written; so does the index of what each has.
  void finish() {
    clocked(report_, "write", finish_s_, [&] {
      job_.on_every_rank([&] {
        if (options_.file_per_rank() || !job_.is_root()) files_->finish();
      });
      job_.at_root([&] {
        if (!options_.file_per_rank()) return files_->finish();
        const DistributedResult result{.ranks = job_.size(),
                                       .rows = plan_.rows,
                                       .length = Shape::out(plan_.length),
                                       .element = element_name<Out>(),
                                       .sample_rate_hz = plan_.rate_hz,
                                       .layout = options_.parts          ? io::Layout::contiguous
                                                 : plan_.split_real == 0 ? io::Layout::round_robin
                                                 : Shape::kRealOut       ? io::Layout::pairs
                                                                         : io::Layout::folded,
                                       .part = part_length()};
        for (const std::string& path : options_.io.out) write_index(path, result);
      });
    });
  }

  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(job_.size()); }
  /// How many elements of each result are this rank's.
  [[nodiscard]] std::size_t mine() const {
    if (options_.parts) return static_cast<std::size_t>(part_end(job_.rank()) - part_begin(job_.rank()));
    if (Shape::kRealOut && plan_.split_real != 0) return static_cast<std::size_t>(plan_.length / ranks());
    return static_cast<std::size_t>(
        share_of(Shape::out(plan_.length), static_cast<std::uint64_t>(job_.rank()), ranks()));
  }

  Job& job_;
  const TransformOptions& options_;
  const TransformPlan& plan_;
  std::shared_ptr<io::Source> input_;
  RunReport& report_;
  std::unique_ptr<AnyFft> fft_;
  std::unique_ptr<Files> files_;
  std::vector<Real> real_;  // a piece of the result
  std::optional<Complex> last_bin_;
  std::uint64_t non_finite_ = 0;
  double read_s_ = 0;
  double write_s_ = 0;
  double finish_s_ = 0;  // until all is on the disk
};

}  // namespace papfft::app
