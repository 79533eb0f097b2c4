// SPDX-License-Identifier: MIT
#include "app/jobs/array_transform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <charconv>
#include <complex>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/exit_code.hpp"
#include "app/io/placed_file.hpp"
#include "app/io/writer.hpp"
#include "app/jobs/names_of_root.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/cores.hpp"
#include "app/run/machine.hpp"
#include "app/run/memory.hpp"

namespace papfft::app {

namespace {

using Sizes = std::vector<std::size_t>;

std::size_t samples_of(const Sizes& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

Sizes shape_of(const io::SignalInfo& info, std::size_t samples) {
  if (!info.shape.empty()) return {info.shape.begin(), info.shape.end()};
  if (info.two_dimensional) return {static_cast<std::size_t>(info.rows), samples / info.rows};
  return {samples};
}

bool gives_real_samples(const TransformOptions& options) {
  return options.dct != 0 || (options.inverse && options.real);
}

fft::LineKind cosine_kind(const TransformOptions& options) {
  return (options.dct == 2) != options.inverse ? fft::LineKind::dct2 : fft::LineKind::dct3;
}

/// Which of the axes get what. @param is_last  of the axes: the one whose real samples have half a spectrum
fft::LinePlan line_plan(const TransformOptions& options, std::size_t have, bool is_last, bool is_complex) {
  fft::LinePlan plan{.direction = options.direction(),
                     .length = have,
                     .orthogonal = options.norm == "ortho",
                     .rigor = fft::Rigor::tuned};
  if (options.dct != 0) {
    plan.kind = cosine_kind(options);
  } else if (is_last && options.inverse && options.real) {
    plan.kind = fft::LineKind::from_half;
    plan.length = std::max<std::size_t>(1, 2 * (have - 1));
  } else if (is_last && !options.inverse && !options.full && !is_complex) {
    plan.kind = fft::LineKind::half_spectrum;
  }
  if (is_last && options.length > 0) plan.length = options.length;
  const std::size_t periods = options.dct != 0 ? 2 * plan.length : plan.length;
  plan.factor = norm_factor(options, periods) * (options.inverse ? 1 / static_cast<double>(periods) : 1);
  return plan;
}

/// One array, by rank 0 alone or as slabs by all ranks.
template <typename T>
class ArrayTransform {
 public:
  using Complex = std::complex<T>;

  ArrayTransform(Job& job, const TransformOptions& options, std::shared_ptr<io::Source> input)
      : job_(job), options_(options), input_(std::move(input)) {
    report_.recorder = job.recorder();
  }

  /// Collective.
  void run() {
    const CoreSet host_cores = cores_of_host(job_);
    std::int32_t shares = 0;
    job_.at_root([&] { shares = chooses_slabs() ? 1 : 0; });
    if (job_.from_root(shares) != 0 && share(asked_for_slabs())) return;
    job_.at_root([&] {
      const RunOn all_cores(host_cores);
      omp_set_num_threads(options_.job.threads_on(host_cores.count()));
      alone();
    });
  }

 private:
  [[nodiscard]] bool asked_for_slabs() const {
    return options_.engine == "slices" || options_.read == "parallel";
  }

  /// A file of a length that is not merely claimed.
  [[nodiscard]] bool is_seekable() const {
    const io::SignalInfo& info = input_->info();
    return info.any_order && info.length.has_value() && !info.is_sound;
  }

  /// At the root: whether each rank shall read its slab.
  [[nodiscard]] bool chooses_slabs() {
    const bool is_possible = is_seekable();
    if (asked_for_slabs()) {
      if (!is_possible) {
        throw UsageError(fmt::format("{}: not every rank can read its part by itself; what would work: {}",
                                     input_->name(), way_without_slices(options_)));
      }
      why_ = "as asked";
      return true;
    }
    why_ = options_.engine == "alone" ? "as asked"
           : job_.size() == 1         ? "there is one rank alone"
                                      : "the array is short, or on one host, or not all can read it";
    // Below, opening the files on all hosts takes longer than the messages that are saved.
    constexpr std::uint64_t kLeastBytes = std::uint64_t{16} << 20U;
    const bool is_left_to_us = options_.engine == "auto" && options_.read == "auto";
    if (!is_possible || !is_left_to_us || job_.size() == 1 || !io::can_place(options_.io.out)) return false;
    const std::uint64_t samples = *input_->sample_count();
    prepare(nullptr, samples);
    if (fft_->memory_bytes() > available_memory_bytes(job_.comm().ranks_on_host())) {
      why_ = fmt::format("rank 0 lacks the {} of memory that it needs for the whole array",
                         memory_text(fft_->memory_bytes()));
      return true;
    }
    if (samples * sizeof(Complex) < kLeastBytes || host_layout(job_).hosts().count() == 1) return false;
    why_ = "all ranks can read the input";
    return true;
  }

  /// @param comm  nullptr: for this process alone. @param samples  in the input
  void prepare(comm::Collectives* comm, std::uint64_t samples) {
    shape_ = shape_of(input_->info(), samples);
    const auto steps = array_steps(options_, shape_, input_->info().is_complex);
    fft_.emplace(comm, shape_, steps);
    shape_after_ = fft_->shape_after();
  }

  void check_memory() const {
    const std::uint64_t need = fft_->memory_bytes();
    const std::uint64_t there = available_memory_bytes(job_.comm().ranks_on_host());
    if (need <= there) return;
    throw MemoryError(fmt::format(
        "{}: rank {} needs {} of memory, and {} is there; what would work: --engine slices by {} ranks "
        "with as much each{}",
        input_->name(), job_.rank(), memory_text(need), memory_text(there),
        job_.size() * static_cast<int>(need / std::max<std::uint64_t>(1, there) + 1), precision_hint<T>()));
  }

  /// At the root.
  void alone() {
    fft::Buffer<Complex> all;
    if (is_seekable()) {
      prepare(nullptr, *input_->sample_count());
      check_memory();
      all = read_slab();
      say_non_finite(report_.non_finite = non_finite_, options_.io.name());
    } else {
      all = read_unknown();
    }
    fft::Buffer<Complex> result;
    timed(report_, "compute", [&] { result = fft_->execute(std::move(all)); });
    describe("alone");
    timed(report_, "write", [&] {
      for (const std::string& path : options_.io.out) write_whole(path, {result.data(), result.size()});
    });
    report_.deliver(options_.job, options_.io.out);
  }

  void write_whole(const std::string& path, std::span<const Complex> result) const {
    if (gives_real_samples(options_)) {
      std::vector<T> real(result.size());
      std::ranges::transform(result, real.begin(), [](const Complex& z) { return z.real(); });
      io::write_array<T>(path, real, shape_after_);
    } else {
      io::write_array<Complex>(path, result, shape_after_);
    }
  }

  /// Collective. @param insist  a rank that cannot read its part, or write it, ends the job; else nothing is done
  /// @return whether it was done
  [[nodiscard]] bool share(bool insist) {
    return gives_real_samples(options_) ? share_into<T>(insist) : share_into<Complex>(insist);
  }

  template <typename Out>
  [[nodiscard]] bool share_into(bool insist) {
    using Files = io::PlacedFiles<Out>;
    const auto each = [&](const std::function<void()>& work) {
      if (!insist) return job_.succeeds_everywhere(work);
      job_.on_every_rank(work);
      return true;
    };
    const std::uint64_t samples = job_.from_root(job_.is_root() ? *input_->sample_count() : 0);
    std::unique_ptr<Files> files;
    const bool is_open = each([&] { open_input(samples); }) && each([&] {
                           if (job_.is_root()) files = std::make_unique<Files>(options_.io.out, file_shape());
                         });
    if (!is_open) return false;
    const auto names = names_of_root(job_, files ? files->temporaries() : std::vector<std::string>());
    if (!each([&] {
          if (!job_.is_root()) files = std::make_unique<Files>(options_.io.out, file_shape(), names);
        })) {
      return false;
    }
    fft::Buffer<Complex> slab;
    job_.on_every_rank([&] { slab = read_slab(); });
    slab = fft_->execute(std::move(slab));
    job_.on_every_rank([&] { write_slab(*files, slab); });
    job_.on_every_rank([&] {
      if (!job_.is_root()) files->finish();
    });
    const double compute_s = largest_at_root(job_, fft_->times().compute_s, options_.job.reduce);
    job_.comm().template reduce<std::uint64_t>(std::span(&non_finite_, 1),
                                               std::span(&report_.non_finite, job_.is_root() ? 1 : 0),
                                               std::plus<>(), 0, options_.job.reduce);
    job_.at_root([&] {
      files->finish();
      say_non_finite(report_.non_finite, options_.io.name());
      describe("slices");
      report_.phases_s.emplace_back("all-to-all", fft_->times().scatter_s);
      report_.phases_s.emplace_back("compute", compute_s);
      report_.deliver(options_.job, options_.io.out);
    });
    return true;
  }

  [[nodiscard]] std::vector<std::uint64_t> file_shape() const {
    return {shape_after_.begin(), shape_after_.end()};
  }

  void open_input(std::uint64_t samples) {
    if (input_ == nullptr) input_ = options_.io.open();
    if (!input_->info().any_order || input_->sample_count() != samples) {
      throw io::DataError(
          input_->name(),
          "is another file here than on rank 0; what would work: a file that all ranks see, or " +
              way_without_slices(options_));
    }
    prepare(&job_.comm(), samples);
    check_memory();
  }

  [[nodiscard]] fft::Buffer<Complex> read_slab() {
    const fft::Stretch rows = fft_->rows();
    const std::size_t columns = samples_of(shape_) / shape_.front();
    fft::Buffer<Complex> slab(rows.count() * columns);
    const std::span<Complex> all(slab.data(), slab.size());
    timed(report_, "read", [&] { (void)input_->template read<Complex>(rows.begin * columns, all); });
    non_finite_ = io::count_non_finite<Complex>(all);
    return slab;
  }

  /// At the root: all samples, whose number is known to be right only after they are read.
  [[nodiscard]] fft::Buffer<Complex> read_unknown() {
    const std::vector<Complex> samples = read_samples<Complex>(*input_, report_);
    fft::Buffer<Complex> all(samples.size());
    std::ranges::copy(samples, all.data());
    prepare(nullptr, samples.size());
    return all;
  }

  template <typename Out>
  void write_slab(io::PlacedFiles<Out>& files, const fft::Buffer<Complex>& slab) {
    const std::size_t first = fft_->rows_after().begin * (samples_of(shape_after_) / shape_after_.front());
    timed(report_, "write", [&] {
      if constexpr (std::is_same_v<Out, T>) {
        constexpr std::size_t kPiece = std::size_t{1} << 18U;
        std::vector<T> real;
        for (std::size_t done = 0; done < slab.size(); done += real.size()) {
          real.resize(std::min(kPiece, slab.size() - done));
          std::transform(slab.data() + done, slab.data() + done + real.size(), real.begin(),
                         [](const Complex& z) { return z.real(); });
          files.write(first + done, std::span<const T>(real));
        }
      } else {
        files.write(first, std::span<const Complex>(slab.data(), slab.size()));
      }
    });
  }

  /// At the root.
  void describe(const char* engine) {
    report_.begin("transform", job_);
    const auto axes = parse_axes(options_.axes, shape_.size());
    const std::string what = options_.dct == 0 ? "" : fmt::format("cosine (type {}) ", options_.dct);
    report_.summary =
        fmt::format("{} {}transform of an array of {} samples along {} {}, {} precision, {}: {} ({})",
                    options_.inverse ? "inverse" : "forward", what, fmt::join(shape_, " x "),
                    axes.size() == 1 ? "axis" : "axes", fmt::join(axes, ","), options_.io.precision,
                    report_.who(), engine, why_);
    report_.settings = {{"shape", shape_},
                        {"axes", axes},
                        {"dct", options_.dct},
                        {"norm", options_.norm},
                        {"inverse", options_.inverse},
                        {"precision", options_.io.precision},
                        {"engine", engine},
                        {"engine_because", why_}};
  }

  Job& job_;
  const TransformOptions& options_;
  std::shared_ptr<io::Source> input_;
  RunReport report_;
  std::string why_;  // this engine; at the root
  Sizes shape_;
  Sizes shape_after_;
  std::optional<fft::ArrayFft<T>> fft_;
  std::uint64_t non_finite_ = 0;  // in this rank's slab
};

}  // namespace

bool is_array_transform(const TransformOptions& options, const io::SignalInfo& info) {
  const std::size_t dimensions = std::max<std::size_t>(info.shape.size(), info.two_dimensional ? 2 : 1);
  if (options.dct != 0 || dimensions > 2) return true;
  const std::vector<std::size_t> axes = parse_axes(options.axes, dimensions);
  return axes.size() > 1 || axes.front() + 1 != dimensions;
}

void check_array_transform(const TransformOptions& options, const std::string& what) {
  const std::pair<bool, const char*> others[] = {{options.batch, "--batch"},
                                                 {options.resume, "--resume"},
                                                 {options.leave_distributed, "--leave-distributed"},
                                                 {options.everywhere, "--everywhere"},
                                                 {options.parts, "--parts"},
                                                 {options.dct != 0 && options.real, "--real"},
                                                 {options.dct != 0 && options.full, "--full"}};
  for (const auto& [given, flag] : others) {
    if (given) throw UsageError(fmt::format("{} and {} do not go together", what, flag));
  }
  if (options.engine != "auto" && options.engine != "alone" && options.engine != "slices") {
    throw UsageError(fmt::format("{}: an array is transformed by engine alone or slices", what));
  }
}

std::vector<std::size_t> parse_axes(const std::string& text, std::size_t dimensions) {
  std::vector<std::size_t> axes;
  if (text == "all") {
    axes.resize(dimensions);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return axes;
  }
  std::string_view rest = text;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find(','));
    std::int64_t axis = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), axis);
    const auto count = static_cast<std::int64_t>(dimensions);
    if (error != std::errc() || end != word.data() + word.size() || axis < -count || axis >= count) {
      throw UsageError(fmt::format("--axes {}: what would work: all, or some of 0 to {}, or -1 for the last",
                                   text, count - 1));
    }
    axes.push_back(static_cast<std::size_t>(axis < 0 ? axis + count : axis));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1) {
      throw UsageError(fmt::format("--axes {}: what would work: each axis once", text));
    }
    if (word.size() == rest.size()) return axes;
    rest.remove_prefix(word.size() + 1);
  }
}

std::vector<fft::AxisStep> array_steps(const TransformOptions& options, std::span<const std::size_t> shape,
                                       bool is_complex) {
  const std::vector<std::size_t> axes = parse_axes(options.axes, shape.size());
  if (options.dct != 0 && is_complex) throw UsageError("--dct is for real samples");
  const bool has_half = options.inverse && options.real;
  if (options.length > 0 && axes.size() > 1 && !has_half) {
    throw UsageError("--length is for transforms along one axis");
  }
  std::vector<fft::AxisStep> steps;
  steps.reserve(axes.size());
  for (const std::size_t axis : axes) {
    steps.push_back({axis, line_plan(options, shape[axis], axis == axes.back(), is_complex)});
  }
  // Real samples come before their spectrum along the other axes.
  if (!options.inverse) std::ranges::reverse(steps);
  return steps;
}

template <typename T>
void transform_array(Job& job, const TransformOptions& options, std::shared_ptr<io::Source> input) {
  ArrayTransform<T>(job, options, std::move(input)).run();
}

template void transform_array<float>(Job&, const TransformOptions&, std::shared_ptr<io::Source>);
template void transform_array<double>(Job&, const TransformOptions&, std::shared_ptr<io::Source>);

}  // namespace papfft::app
