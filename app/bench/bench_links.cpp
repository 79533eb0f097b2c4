// SPDX-License-Identifier: MIT
#include "app/bench/bench_links.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;

constexpr const char* kVariable = "PAPFFT_CLUSTER_LINK";
constexpr std::size_t kLongMessage = std::size_t{1} << 20U;
constexpr std::size_t kMostCopied = std::size_t{1} << 26U;  // bytes at a time

/// Of each rank, the lowest rank of those that share its host.
std::vector<int> hosts_of_ranks() {
  MPI_Comm here = MPI_COMM_NULL;
  int lowest = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &lowest);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
            "MPI_Comm_split_type");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, here), "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&here), "MPI_Comm_free");
  std::vector<int> hosts(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
  return hosts;
}

int core_count() { return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))); }

/// The fastest of several copies of so many bytes, by one core.
double measure_copy_ns_per_byte(std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  const std::size_t size = std::clamp<std::size_t>(bytes, 4096, kMostCopied);
  const std::vector<char> from(size, 1);
  std::vector<char> to(size);
  double best_ns = 1e300;
  for (int i = 0; i < 8; ++i) {
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), size);
    asm volatile("" : : "r"(to.data()) : "memory");  // or the copy could be left out
    best_ns = std::min(best_ns, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best_ns / static_cast<double>(size);
}

}  // namespace

ToldCable ToldCable::parse(const std::string& text) {
  constexpr double kFrame = 1514;
  constexpr double kDataInFrame = 1460;
  double rate = 0;
  double burst = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "rate_bits_per_s=%lf burst_bytes=%lf%n", &rate, &burst, &end) != 2 ||
      static_cast<std::size_t>(end) != text.size() || !(rate > 0) || !(burst >= 0) || rate > 1e15 ||
      burst > 1e15) {
    throw UsageError(fmt::format(
        "{}='{}'; what would work: \"rate_bits_per_s=1000000000 burst_bytes=250000\"", kVariable, text));
  }
  return {8e9 / rate * kFrame / kDataInFrame, burst};
}

std::optional<ToldCable> ToldCable::from_environment() {
  const char* text = std::getenv(kVariable);
  if (text == nullptr) return std::nullopt;
  return parse(text);
}

BenchLinks::BenchLinks(int root) : root_(root), host_(hosts_of_ranks()) {}

int BenchLinks::host_count() const {
  return static_cast<int>(std::set<int>(host_.begin(), host_.end()).size());
}

int BenchLinks::ranks_on_root_host() const {
  return static_cast<int>(std::ranges::count(host_, host_[static_cast<std::size_t>(root_)]));
}

double BenchLinks::share_elsewhere() const {
  const auto ranks = static_cast<double>(host_.size());
  return (ranks - (between_hosts() ? ranks_on_root_host() : 1)) / ranks;
}

double BenchLinks::root_host_ns(double bytes, double bursts) const {
  if (!between_hosts())
    return bytes * copy_ns_per_byte(static_cast<std::size_t>(bytes)) / static_cast<double>(core_count());
  const double burst_bytes = told_ ? told_->burst_bytes : 0;
  return std::max(0.0, bytes - bursts * burst_bytes) * beta_ns_per_byte();
}

double BenchLinks::copy_ns_per_byte(std::size_t bytes) const {
  const auto [known, is_new] = copy_ns_per_byte_.try_emplace(bytes);
  if (is_new) known->second = measure_copy_ns_per_byte(bytes);
  return known->second;
}

comm::LinkProbe BenchLinks::rate_probe() const {
  const int root_host = host_[static_cast<std::size_t>(root_)];
  const auto elsewhere = std::ranges::find_if(host_, [&](int host) { return host != root_host; });
  comm::LinkProbe probe{
      .sender = root_ == 0 ? 1 : 0, .receiver = root_, .long_bytes = kLongMessage, .in_flight = 8};
  if (elsewhere != host_.end()) probe.sender = static_cast<int>(elsewhere - host_.begin());
  if (told_)
    probe.burst_bytes = std::max(probe.burst_bytes, static_cast<std::size_t>(2 * told_->burst_bytes));
  return probe;
}

comm::LinkProbe BenchLinks::segment_probe() const {
  const comm::LinkProbe ends = rate_probe();
  return {.sender = ends.sender, .receiver = ends.receiver, .burst_bytes = ends.burst_bytes};
}

void BenchLinks::add_measurement(const comm::LinkModel& link) {
  measured_beta_ns_ = std::min(measured_beta_ns_.value_or(link.beta_ns_per_byte), link.beta_ns_per_byte);
}

double BenchLinks::beta_ns_per_byte() const {
  return told_ ? told_->beta_ns_per_byte : measured_beta_ns_.value_or(0);
}

Links BenchLinks::for_bound(std::size_t block_bytes) const {
  return {.host = host_,
          .beta_ns_per_byte = beta_ns_per_byte(),
          .burst_bytes = told_ ? told_->burst_bytes : 0,
          .copy_ns_per_byte = copy_ns_per_byte(block_bytes),
          .cores = core_count()};
}

io::Json BenchLinks::json() const {
  if (!between_hosts()) return {{"between", "memory"}, {"hosts", 1}};
  return {{"between", "hosts"},
          {"hosts", host_count()},
          {"beta_ns_per_byte", beta_ns_per_byte()},
          {"beta_from", told_ ? "papfft cluster" : "measured"},
          {"burst_bytes", told_ ? told_->burst_bytes : 0},
          {"burst_from", told_ ? "papfft cluster" : "not known"}};
}

std::string BenchLinks::text() const {
  if (!between_hosts()) return "bound: by what the cores of one host must copy in its memory";
  return told_ ? fmt::format(
                     "bound: by the cables of {} hosts, {} ns/byte after a burst of {} bytes (told by papfft "
                     "cluster)",
                     host_count(), figure(beta_ns_per_byte()), told_->burst_bytes)
               : fmt::format("bound: by the cables of {} hosts, {} ns/byte (measured), no burst known",
                             host_count(), figure(beta_ns_per_byte()));
}

}  // namespace papfft::app
