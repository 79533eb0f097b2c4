// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/io/row_files.hpp"
#include "app/io/writer.hpp"
#include "app/jobs/distributed_output.hpp"
#include "app/jobs/transform_engines.hpp"
#include "app/jobs/transform_output.hpp"
#include "fft/engines/shared_transform.hpp"
#include "fft/engines/turns.hpp"

namespace papfft::app {

/// Transforms whose results stay with the ranks (or come to all of them), which write a file each. Of each vector a rank keeps
/// the elements k = rank, rank + P, ... that it computes: what `interleave` would put in order. Real vectors go as complex ones,
/// as the blocks of RealSplit belong to no such simple rule.
template <typename In, typename Out>
class DistributedRun {
 public:
  using Shape = TransformShape<In, Out>;
  using Complex = typename Shape::Complex;

  /// All must outlive this object. @param source  nullptr elsewhere than at the root
  DistributedRun(Job& job, const TransformOptions& options, const TransformPlan& plan,
                 VectorSource<In>* source, RunReport& report)
      : job_(job), options_(options), plan_(plan), source_(source), report_(report) {
    const auto first = static_cast<std::uint64_t>(job.rank());
    const auto ranks = static_cast<std::uint64_t>(job.size());
    for (std::uint64_t r = 0; r < ranks; ++r) shares_.push_back(share_of(Shape::out(plan.length), r, ranks));
    mine_ = shares_[first];
  }

  /// Collective: all vectors. With a plan row by row each is written when it is there, else all are kept for leave().
  void run() {
    fft::ParallelPlan shared_plan{.length = plan_.length,
                                  .direction = options_.direction(),
                                  .scatter = options_.job.scatter,
                                  .rigor = fft::Rigor::tuned};
    fft::SharedTransform<typename Shape::Real> shared(shared_plan, job_.rank(), job_.size());
    ArrivalAware arrivals(job_, options_.job, plan_.rows, {comm::Operation::scatter});
    Progress progress = options_.job.make_progress(job_.is_root(), "transform");
    fft::Buffer<Complex> blocks(job_.is_root() ? shared.parts() * shared.block_length() : 0);
    std::vector<Complex> block(shared.block_length());
    std::vector<Complex> room(job_.is_root() ? plan_.length : 0);
    if (plan_.row_by_row != 0) job_.on_every_rank([&] { open_files(); });
    fft::Turns turns(job_.comm());
    fft::Offer<In> offer;
    const auto ask = [&]() -> std::optional<bool> {
      offer = source_->next(kPatience);
      if (offer.kind == fft::Offer<In>::Kind::later) return std::nullopt;
      return offer.kind == fft::Offer<In>::Kind::vector;
    };
    for (; turns.another(ask); ++done_) {
      clocked(times_.split_s, [&] {
        if (job_.is_root()) {
          shared.split(as_complex<In, Out>(offer.vector, plan_.length, room),
                       shared.blocks_of(blocks.data()));
        }
      });
      clocked(times_.scatter_s, [&] {
        arrivals.comm().template scatter<Complex>(std::span<const Complex>(blocks.data(), blocks.size()),
                                                  block, 0, options_.job.scatter);
      });
      clocked(times_.compute_s, [&] { shared.compute(block.data(), block.data(), &arrivals.watch()); });
      if (job_.is_root()) times_.bytes_scattered += (shared.parts() - 1) * block.size() * sizeof(Complex);
      keep(block);
      progress.show(done_ + 1, plan_.known_rows());
    }
    report_.arrivals = arrivals.finish();
  }

  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] const fft::PhaseTimes& times() const { return times_; }

  /// Collective, after run(): writes what is not written yet; then the index, when all have written.
  void leave() {
    const auto rows = plan_.matrix != 0 ? std::optional<std::size_t>(done_) : std::nullopt;
    if (files_ == nullptr && options_.everywhere) {
      timed(report_, "allgatherv", [&] { kept_ = of_all_ranks(kept_, done_); });
    }
    timed(report_, "write", [&] {
      job_.on_every_rank([&] {
        if (files_ != nullptr) {
          files_->finish();
          return;
        }
        for (const std::string& path : options_.io.out) {
          io::write_numbers(path_of_rank(path, job_.rank()), std::span<const Out>(kept_), rows,
                            axis_name(options_, plan_), [&] { return axis(); });
        }
      });
    });
    job_.at_root([&] {
      for (const std::string& path : options_.io.out) write_index(path, about());
      report_.deliver(options_.job, options_.io.out);
    });
  }

 private:
  /// Of what is in this rank's file.
  [[nodiscard]] std::vector<double> axis() const {
    std::vector<double> all = axis_values(options_, plan_, Shape::out(plan_.length));
    if (options_.everywhere) return all;
    std::vector<double> values;
    for (auto k = static_cast<std::size_t>(job_.rank()); k < all.size();
         k += static_cast<std::size_t>(job_.size())) {
      values.push_back(all[k]);
    }
    return values;
  }

  /// This rank's files, which grow row by row.
  void open_files() {
    std::vector<std::string> paths;
    for (const std::string& path : options_.io.out) paths.push_back(path_of_rank(path, job_.rank()));
    const auto rows = plan_.rows == kUnknownRows ? std::nullopt : std::optional(plan_.rows);
    files_ = std::make_unique<io::RowFiles<Out>>(
        paths, options_.everywhere ? Shape::out(plan_.length) : mine_, rows, std::nullopt);
  }

  /// A vector's block, of which the first elements belong to the result.
  void keep(const std::vector<Complex>& block) {
    if (files_ != nullptr) kept_.clear();
    const auto factor = static_cast<typename Shape::Real>(norm_factor(options_, plan_.length));
    std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(mine_),
                   std::back_inserter(kept_), [factor](const Complex& z) {
                     if constexpr (Shape::kRealOut) {
                       return z.real() * factor;
                     } else {
                       return z * factor;
                     }
                   });
    if (files_ == nullptr) return;
    files_->write(options_.everywhere ? of_all_ranks(kept_, 1).data() : kept_.data());
  }

  /// Collective. @return the whole result of so many vectors
  [[nodiscard]] std::vector<Out> of_all_ranks(const std::vector<Out>& mine, std::uint64_t rows) {
    const std::uint64_t length = Shape::out(plan_.length);
    std::vector<std::size_t> counts;
    for (const std::uint64_t share : shares_) counts.push_back(rows * share);
    std::vector<Out> gathered(rows * length);
    job_.comm().template allgatherv<Out>(mine, gathered, counts);
    std::vector<Out> whole(gathered.size());
    auto next = gathered.begin();
    for (std::uint64_t r = 0; r < shares_.size(); ++r) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        for (std::uint64_t k = r; k < length; k += shares_.size()) whole[row * length + k] = *next++;
      }
    }
    return whole;
  }

  [[nodiscard]] DistributedResult about() const {
    return {.ranks = job_.size(),
            .rows = done_,
            .length = Shape::out(plan_.length),
            .element = element_name<Out>(),
            .sample_rate_hz = plan_.rate_hz,
            .layout = options_.everywhere ? io::Layout::everywhere : io::Layout::round_robin};
  }

  Job& job_;
  const TransformOptions& options_;
  const TransformPlan& plan_;
  VectorSource<In>* source_;
  RunReport& report_;
  std::vector<std::uint64_t> shares_;  // by rank: elements of each result
  std::uint64_t mine_ = 0;
  std::vector<Out> kept_;  // this rank's: all results, or the last one
  std::unique_ptr<io::RowFiles<Out>> files_;
  std::uint64_t done_ = 0;
  fft::PhaseTimes times_;
};

}  // namespace papfft::app
