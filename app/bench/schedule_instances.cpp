// SPDX-License-Identifier: MIT
#include "app/bench/schedule_instances.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <stdexcept>

#include "app/report/byte_count.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::app {

namespace {

constexpr double kUnitNs = 1e6;  // the paper's unit of time; it has no name there
constexpr int kMostSampled = 20'000;

}  // namespace

Instances::Instances(const std::string& pattern, std::uint64_t seed)
    : uniform_(pattern == "uniform"), skewed_(pattern == "skewed"), random_(seed) {
  if (pattern.starts_with(kRounds)) {
    uniform_ = true;
    rounds_ = static_cast<double>(report::parse_byte_count(pattern.substr(kRounds.size())));
  } else if (!uniform_ && !skewed_ && pattern != kNoPattern) {
    throw std::invalid_argument("no pattern '" + pattern + "'; known: uniform, skewed, rounds:R");
  }
}

comm::Request Instances::next(comm::Operation operation, int ranks, int segments) {
  comm::Request request{.operation = operation, .ranks = ranks, .segments = segments};
  if (!uniform_ && !skewed_) return request;
  request.round_ns = rounds_ > 0 ? std::llround(kUnitNs) : time_ns(0.001, 1);
  request.arrival_ns.resize(static_cast<std::size_t>(ranks));
  if (uniform_) {
    const double last = rounds_ > 0 ? rounds_ : ranks + 0.1;
    for (std::int64_t& arrival : request.arrival_ns) arrival = time_ns(0, last);
    if (comm::is_rooted(operation)) request.root = std::uniform_int_distribution(0, ranks - 1)(random_);
  } else {
    request.arrival_ns.back() = std::llround(segments * kUnitNs);
  }
  return request;
}

std::int64_t Instances::time_ns(double from, double to) {
  return std::llround(std::uniform_real_distribution(from, to)(random_) * kUnitNs);
}

CirculantTimes time_circulant(int ranks, int repetitions) {
  using Clock = std::chrono::steady_clock;
  const comm::Circulant graph(ranks);
  CirculantTimes times{.sampled = std::min(ranks, kMostSampled)};
  const auto q = static_cast<std::size_t>(graph.rounds());
  const auto ns_since = [](Clock::time_point start) {
    return static_cast<double>(std::chrono::nanoseconds(Clock::now() - start).count());
  };
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    for (std::int64_t k = 0; k < times.sampled; ++k) {
      const int r = static_cast<int>(k * ranks / times.sampled);
      times.checksum += graph.receive(r)[q / 2] + graph.send(r)[q / 2];
    }
    times.rank_ns.push_back(ns_since(start) / times.sampled);
    if (times.sampled < ranks) continue;
    std::vector<int> all(static_cast<std::size_t>(ranks) * q);
    const auto start_all = Clock::now();
    for (int r = 0; r < ranks; ++r)
      graph.receive(r, std::span(all).subspan(static_cast<std::size_t>(r) * q, q));
    times.all_us.push_back(ns_since(start_all) * 1e-3);
    times.checksum += all.empty() ? 0 : all.back();
  }
  return times;
}

}  // namespace papfft::app
