// SPDX-License-Identifier: MIT
#include "app/jobs/welch_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "app/cli/tell.hpp"
#include "fft/spectral/order_free_sum.hpp"

namespace papfft::app {

namespace {

constexpr std::uint64_t kSamplesAtOnce = std::uint64_t{1} << 18;

std::vector<fft::ChannelPair> all_pairs(std::size_t channels) {
  std::vector<fft::ChannelPair> pairs;
  for (std::size_t a = 0; a < channels; ++a) {
    for (std::size_t b = a + 1; b < channels; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

}  // namespace

void WelchOptions::declare(cli::Command& app) {
  FrameOptions::declare(app, "nperseg/2");
  app.add_option("--nfft", nfft, "pad each frame with zeros to so many samples (default: nperseg)")
      ->positive();
  app.add_flag("--two-sided", two_sided,
               "all nfft bins of real samples, instead of those up to half the rate");
  app.add_option("--read", read,
                 "who reads the input: root (which scatters it), or parallel (each rank reads its part of a "
                 "file that "
                 "all ranks see)")
      ->envname("PAPFFT_READ")
      ->one_of({"root", "parallel"})
      ->capture_default_str();
  app.add_option("--frames-at-once", frames_at_once,
                 "frames that a rank holds at a time (default: as many as make 2^18 samples)")
      ->positive();
  job.declare(app);
}

void WelchOptions::check() const {
  FrameOptions::check();
  if (nfft && *nfft < nperseg)
    throw UsageError(fmt::format("--nfft {} must not be below --nperseg {}", *nfft, nperseg));
}

fft::WelchSettings WelchOptions::settings(double sample_rate_hz) const {
  return {.sample_rate_hz = sample_rate_hz,
          .window = fft::parse_window(window),
          .tukey_alpha = alpha,
          .nperseg = nperseg,
          .noverlap = noverlap.value_or(nperseg / 2),
          .nfft = nfft.value_or(nperseg),
          .scaling = parsed_scaling(),
          .detrend = fft::parse_detrend(detrend),
          .two_sided = two_sided,
          .average = average == "median" ? fft::Average::median : fft::Average::mean};
}

template <typename T>
typename WelchRun<T>::Part WelchRun<T>::part(std::uint64_t batch, int rank) const {
  const std::uint64_t each = share(batch);
  const std::uint64_t first = std::min(batch, static_cast<std::uint64_t>(rank) * each);
  return {first, std::min(batch, first + each) - first};
}

template <typename T>
void WelchRun<T>::compute() {
  settings_ = options_.settings(1);
  job_.at_root([&] { prepare(); });
  plan_ = job_.from_root(plan_);
  settings_ = options_.settings(plan_.rate_hz);
  window_ = shared_window(job_, settings_, options_.job.bcast);
  settings_.window_samples = window_;
  if (with_pairs_) pairs_ = all_pairs(channels());
  if (job_.is_root() && !channels_.any_order()) {
    orderly_.emplace(*job_.stop(), [this] { channels_.give_up(); });
  }
  if (reads_itself()) job_.on_every_rank([&] { check_readable(); });
  if (plan_.is_complex != 0) {
    run<std::complex<T>>();
  } else {
    run<T>();
  }
}

template <typename T>
void WelchRun<T>::prepare() {
  for (const std::string& path : options_.inputs) io::know_input(path);
  check_before_work(options_.io, options_.job, job_.size());
  channels_ = Channels(options_.io, options_.inputs, options_.apart);
  if (with_pairs_ && channels_.size() < 2) {
    throw UsageError(
        fmt::format("{}: one channel cannot be correlated with itself alone; name a second file, or one of "
                    "several channels",
                    channels_.name()));
  }
  if (reads_itself() && (!channels_.any_order() || !channels_.length())) {
    throw UsageError(fmt::format("{}: not every rank can read it by itself; what would work: --read root",
                                 channels_.name()));
  }
  const double file_rate_hz = options_.rate_hz > 0 ? 0 : channels_.sample_rate_hz();
  knows_rate_ = options_.rate_hz > 0 || file_rate_hz > 0;
  plan_.rate_hz = options_.rate_hz > 0 ? options_.rate_hz : knows_rate_ ? file_rate_hz : 1;
  plan_.channels = channels_.size();
  plan_.is_complex = channels_.is_complex() ? 1 : 0;
  has_rows_ = with_pairs_ ? channels_.size() > 2 : channels_.two_dimensional() || channels_.size() > 1;
  const std::uint64_t hop = framing().hop();
  plan_.frames_at_once = options_.frames_at_once > 0
                             ? options_.frames_at_once
                             : std::max<std::uint64_t>(1, kSamplesAtOnce / (hop * plan_.channels));
  if (const auto length = channels_.length()) {
    plan_.length = *length;
    plan_.frames = framing(*length).frames();
    if (plan_.frames == 0) refuse_short(*length);
    plan_.frames_at_once = std::min(plan_.frames_at_once, share(plan_.frames));
    if (!channels_.equally_long()) {
      tell("papfft: note: {}: the shorter is padded with zeros\n", channels_.name());
    }
  }
}

template <typename T>
void WelchRun<T>::refuse_short(std::uint64_t samples) const {
  if (samples == 0) throw io::DataError(channels_.name(), "holds no samples");
  throw UsageError(fmt::format("{}: {} samples are shorter than a frame; what would work: --nperseg {}",
                               channels_.name(), samples, samples));
}

/// Every rank opens the input; all must see the same.
template <typename T>
void WelchRun<T>::check_readable() {
  if (job_.is_root()) return;
  channels_ = Channels(options_.io, options_.inputs, options_.apart);
  if (channels_.size() != plan_.channels || channels_.length() != plan_.length) {
    throw io::DataError(
        channels_.name(),
        fmt::format("is not the same file for rank {} as for rank 0; what would work: --read root",
                    job_.rank()));
  }
}

template <typename T>
template <typename Sample>
void WelchRun<T>::run() {
  fft::Welch<Sample> welch(settings_, channels(), pairs_);
  Progress progress = options_.job.make_progress(job_.is_root(), with_pairs_ ? "correlate" : "psd");
  using comm::Operation;
  if (reads_itself()) {
    ArrivalAware arrivals(job_, options_.job, 1, {Operation::reduce});
    each_its_own(welch, arrivals.watch(), progress);
    collect(welch, arrivals);
  } else {
    const std::uint64_t batches =
        plan_.frames > 0 ? (plan_.frames + batch_frames() - 1) / batch_frames() : 2;  // a pipe: perhaps many
    ArrivalAware arrivals(job_, options_.job, batches, {Operation::scatter, Operation::reduce});
    through_root(welch, arrivals, progress);
    collect(welch, arrivals);
  }
}

template <typename T>
template <typename Sample>
void WelchRun<T>::through_root(fft::Welch<Sample>& welch, ArrivalAware& arrivals, Progress& progress) {
  std::vector<Sample> window;
  std::vector<Sample> blocks;
  std::vector<Sample> mine;
  while (plan_.frames == 0 || frames_done_ < plan_.frames) {
    std::uint64_t batch = 0;
    job_.at_root([&] { clocked(report_, "read", read_s_, [&] { batch = read_batch(window); }); });
    batch = job_.from_root(batch);
    if (batch == 0) break;
    const std::uint64_t block = channels() * framing().samples_spanned(0, share(batch));
    mine.resize(block);
    clocked(report_, "scatter", scatter_s_, [&] {
      if (job_.is_root()) cut(window, batch, blocks);
      arrivals.comm().template scatter<Sample>(blocks, mine, 0, options_.job.scatter);
    });
    report_.bytes_out += static_cast<std::uint64_t>(job_.size() - 1) * block * sizeof(Sample);
    clocked(compute_s_, [&] {
      arrivals.watch().compute_begins();
      welch.accumulate(mine, part(batch, job_.rank()).frames, arrivals.watch().progress());
      arrivals.watch().compute_ends();
    });
    frames_done_ += batch;
    if (plan_.frames > 0) progress.show(frames_done_, plan_.frames);
  }
  say_if_cut_short();
}

template <typename T>
void WelchRun<T>::say_if_cut_short() {
  job_.at_root([&] {
    const EarlyEnd::Done so_far{.count = frames_done_, .noun = "frame", .kept = EarlyEnd::Kept::as_average};
    if (early_.has_failed()) {
      early_.say_failed(so_far);
    } else if (channels_.given_up() && (plan_.frames == 0 || frames_done_ < plan_.frames)) {
      early_.say_stopped(*job_.stop(), so_far);
      if (frames_done_ == 0) throw Quit{job_.stop()->exit_code()};
    }
  });
}

/// Nobody hears of the others before the reduction; a rank that cannot read takes part in it all the same.
template <typename T>
template <typename Sample>
void WelchRun<T>::each_its_own(fft::Welch<Sample>& welch, ComputeWatch& watch, Progress& progress) {
  const auto total = static_cast<double>(plan_.frames);
  const fft::Framing cut(plan_.length, options_.nperseg, settings_.noverlap);
  std::vector<Sample> mine;
  watch.compute_begins();
  try {
    while (frames_done_ < plan_.frames) {
      const std::uint64_t batch = std::min(batch_frames(), plan_.frames - frames_done_);
      const Part my_part = part(batch, job_.rank());
      const std::uint64_t first = frames_done_ + my_part.first;
      const std::uint64_t length = cut.samples_spanned(0, my_part.frames);
      clocked(report_, "read", read_s_, [&] {
        mine.resize(channels() * length);
        for (std::size_t c = 0; c < channels() && length > 0; ++c) {
          const auto row = std::span(mine).subspan(c * length, length);
          channels_.template read<Sample>(c, cut.first_sample(first), row);
          // What the next frame begins with is counted by whoever has that.
          const bool is_last = first + my_part.frames == plan_.frames;
          report_.non_finite +=
              io::count_non_finite<Sample>(row.first(is_last ? length : my_part.frames * cut.hop()));
        }
      });
      clocked(compute_s_, [&] {
        welch.accumulate(mine, my_part.frames, [&](double fraction) {
          watch.compute_reaches((static_cast<double>(frames_done_) + fraction * static_cast<double>(batch)) /
                                total);
        });
      });
      frames_done_ += batch;
      progress.show(frames_done_, plan_.frames);
    }
  } catch (const io::DataError&) {
    early_.failed(std::current_exception());
    frames_done_ = plan_.frames;
  }
  watch.compute_ends();
}

/// Moves on in the input. `window` holds, per channel, the samples that the batch's frames span.
/// @return how many frames that are; 0 at the end
template <typename T>
template <typename Sample>
std::uint64_t WelchRun<T>::read_batch(std::vector<Sample>& window) {
  const std::uint64_t pitch = framing().samples_spanned(0, batch_frames());
  window.resize(channels() * pitch);
  const std::uint64_t kept =
      window_samples_ - consumed_samples_;  // what frames of this batch share with the last
  std::uint64_t got = 0;
  std::uint64_t all_got = pitch;
  for (std::size_t c = 0; c < channels(); ++c) {
    Sample* const row = window.data() + c * pitch;
    std::copy(row + consumed_samples_, row + window_samples_, row);
    const auto fresh = std::span(row + kept, pitch - kept);
    std::size_t there = 0;
    try {
      // Only when it is asked again does a pipe say why it gave less.
      for (std::size_t more = 1; more > 0 && there < fresh.size(); there += more) {
        more = channels_.template read<Sample>(c, next_sample_ + there, fresh.subspan(there));
      }
    } catch (const io::DataError&) {
      if (channels_.any_order()) throw;
      early_.failed(std::current_exception());  // what came before counts
    }
    report_.non_finite += io::count_non_finite<Sample>(fresh.first(there));
    got = std::max<std::uint64_t>(got, there);
    all_got = std::min<std::uint64_t>(all_got, there);
  }
  // A pipe that has ended before its end is not to be padded with zeros up to the other's.
  const bool cut_short = channels_.given_up() || early_.has_failed();
  if (cut_short) got = all_got;
  next_sample_ += got;
  window_samples_ = kept + got;
  std::uint64_t frames = std::min<std::uint64_t>(batch_frames(), framing(window_samples_).frames());
  if (frames == 0 && frames_done_ == 0) {
    if (early_.has_failed()) std::rethrow_exception(early_.failure());
    if (!cut_short) refuse_short(window_samples_);
  }
  consumed_samples_ = frames * framing().hop();
  return frames;
}

/// A block per rank, channels one after another in each. Beyond the end are zeros.
template <typename T>
template <typename Sample>
void WelchRun<T>::cut(const std::vector<Sample>& window, std::uint64_t batch,
                      std::vector<Sample>& blocks) const {
  const std::uint64_t pitch = window.size() / channels();
  const std::uint64_t length = framing().samples_spanned(0, share(batch));
  blocks.assign(static_cast<std::size_t>(job_.size()) * channels() * length, Sample{});
  auto* to = blocks.data();
  for (int rank = 0; rank < job_.size(); ++rank) {
    const Part its = part(batch, rank);
    const std::uint64_t count = framing().samples_spanned(0, its.frames);
    for (std::size_t c = 0; c < channels(); ++c, to += length) {
      std::copy_n(window.data() + c * pitch + framing().first_sample(its.first), count, to);
    }
  }
}

template <typename T>
template <typename Sample>
void WelchRun<T>::collect(const fft::Welch<Sample>& welch, ArrivalAware& arrivals) {
  const bool median = settings_.average == fft::Average::median;
  std::vector<fft::OrderFreeSum> mine;
  std::vector<fft::OrderFreeSum> all;
  std::vector<double> powers;
  clocked(report_, "reduce", reduce_s_, [&] {
    if (median) {
      powers = gather_powers(welch, arrivals);
      return;
    }
    for (const double sum : welch.sums()) mine.push_back(fft::OrderFreeSum::of(sum));
    if (job_.is_root()) all.resize(mine.size());
    arrivals.comm().template reduce<fft::OrderFreeSum>(mine, all, std::plus<>(), 0, options_.job.reduce);
  });
  report_.arrivals = arrivals.finish();
  if (reads_itself()) {
    job_.on_every_rank([&] {
      if (early_.has_failed()) std::rethrow_exception(early_.failure());
    });
    const std::uint64_t non_finite = report_.non_finite;
    job_.comm().reduce<std::uint64_t>(std::span(&non_finite, 1),
                                      std::span(&report_.non_finite, job_.is_root() ? 1 : 0), std::plus<>(),
                                      0, options_.job.reduce);
  }
  compute_s_ = largest_at_root(job_, compute_s_, options_.job.reduce);
  if (!job_.is_root()) return;
  say_non_finite(report_.non_finite, channels_.name());
  if (job_.size() > 1) {
    report_.bytes_back = median ? (powers.size() - welch.powers().size()) * sizeof(double)
                                : mine.size() * sizeof(fft::OrderFreeSum);
  }
  report_.phases_s.emplace_back("read", read_s_);
  if (!reads_itself()) report_.phases_s.emplace_back("scatter", scatter_s_);
  report_.phases_s.emplace_back("compute", compute_s_);
  report_.phases_s.emplace_back(median ? "gather" : "reduce", reduce_s_);

  std::vector<double> sums;
  sums.reserve(all.size());
  for (const fft::OrderFreeSum& sum : all) sums.push_back(sum.value());
  for (std::size_t k = 0; k < welch.bins(); ++k) bins_hz_.push_back(welch.bin_hz(k));
  if (median) {
    power_ = welch.median_power(powers);
    return;
  }
  power_ = welch.power(sums, frames_done_);
  cross_ = welch.cross(sums, frames_done_);
  coherence_ = welch.coherence(sums);
}

/// Of all ranks' frames, at the root.
template <typename T>
template <typename Sample>
std::vector<double> WelchRun<T>::gather_powers(const fft::Welch<Sample>& welch, ArrivalAware& arrivals) {
  const std::uint64_t mine = welch.powers().size();
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(job_.size()));
  job_.comm().allgather<std::uint64_t>(std::span(&mine, 1), counts);
  const std::size_t block = *std::ranges::max_element(counts);
  std::vector<double> sent(welch.powers().begin(), welch.powers().end());
  sent.resize(block);
  std::vector<double> all(job_.is_root() ? counts.size() * block : 0);
  arrivals.comm().template gather<double>(sent, all, 0, options_.job.gather);
  if (!job_.is_root()) return {};
  auto end = all.begin();
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(r * block);
    end = std::move(from, from + static_cast<std::ptrdiff_t>(counts[r]), end);
  }
  all.erase(end, all.end());
  return all;
}

template <typename T>
void WelchRun<T>::deliver(const std::function<void()>& describe,
                          const std::function<void(const std::string& path)>& write) {
  job_.at_root([&] {
    describe();
    timed(report_, "write", [&] { std::ranges::for_each(options_.io.out, write); });
    report_.deliver(options_.job, options_.io.out);
  });
}

template <typename T>
void WelchRun<T>::describe(const std::string& command, const std::string& what) {
  report_.begin(command, job_);
  report_.summary = fmt::format(
      "{} of {} of {} samples: {} frames of {} ({} overlapping), {} bins, {} precision, {}: {}, reduce {}",
      what, counted(plan_.channels, "channel"), plan_.is_complex != 0 ? "complex" : "real", frames_done_,
      settings_.nperseg, settings_.noverlap, bins(), options_.io.precision, report_.who(),
      reads_itself() ? "each reads its own" : "scatter " + options_.job.scatter, options_.job.reduce);
  report_.settings = {{"channels", plan_.channels},
                      {"frames", frames_done_},
                      {"bins", bins()},
                      {"nperseg", settings_.nperseg},
                      {"noverlap", settings_.noverlap},
                      {"nfft", settings_.nfft},
                      {"window", options_.window},
                      {"scaling", options_.scaling},
                      {"detrend", options_.detrend},
                      {"average", options_.average},
                      {"two_sided", options_.two_sided || plan_.is_complex != 0},
                      {"sample_rate_hz", plan_.rate_hz},
                      {"precision", options_.io.precision},
                      {"read", options_.read},
                      {"frames_at_once", plan_.frames_at_once},
                      {"scatter", options_.job.scatter},
                      {"reduce", options_.job.reduce}};
}

template <typename T>
void WelchRun<T>::draw(const std::string& path, const std::vector<double>& levels,
                       const std::vector<std::string>& names, const report::Axis& y) const {
  const auto first_negative =
      std::ranges::find_if(bins_hz_, [](double hz) { return hz < 0; }) - bins_hz_.begin();
  const bool symmetric = first_negative < static_cast<std::ptrdiff_t>(bins());
  report::LinePlot plot;
  plot.x = {.label = "Frequency",
            .unit = knows_rate_ ? "Hz" : "cycles/sample",
            .scale = options_.log_frequency && !symmetric ? report::Scale::log : report::Scale::linear};
  plot.y = y;
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto begin = levels.begin() + static_cast<std::ptrdiff_t>(row * bins());
    report::Series series{.name = names.size() > 1 ? names[row] : "",
                          .x = bins_hz_,
                          .y = std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(bins()))};
    // Negative frequencies belong on the left.
    std::rotate(series.x.begin(), series.x.begin() + first_negative, series.x.end());
    std::rotate(series.y.begin(), series.y.begin() + first_negative, series.y.end());
    plot.series.push_back(std::move(series));
  }
  write_picture(path, plot, options_.io);
}

template class WelchRun<float>;
template class WelchRun<double>;

}  // namespace papfft::app
