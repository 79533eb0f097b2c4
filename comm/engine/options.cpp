// SPDX-License-Identifier: MIT
#include "papfft/options.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

namespace papfft::comm {

namespace {

template <typename Set>
void read_number(const char* variable, long long least, long long most, Set set) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return;
  const std::string_view view(text);
  long long value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size() || value < least || value > most) {
    throw std::invalid_argument(std::string(variable) + "='" + text + "': expected a whole number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  }
  set(value);
}

void read_time(const char* variable, double most_ns, double& ns) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return;
  const std::string_view view(text);
  double value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size() || !(value >= 0 && value <= most_ns)) {
    throw std::invalid_argument(std::string(variable) + "='" + text + "': expected nanoseconds from 0 to " +
                                std::to_string(static_cast<long long>(most_ns)));
  }
  ns = value;
}

}  // namespace

WaitPolicy parse_wait_policy(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kWaitNames.size(); ++i) {
    if (kWaitNames[i] == name) return static_cast<WaitPolicy>(i);
    known += (known.empty() ? "" : ", ") + std::string(kWaitNames[i]);
  }
  throw std::invalid_argument("no wait policy '" + std::string(name) + "'; known: " + known);
}

std::string_view to_string(WaitPolicy policy) { return kWaitNames.at(static_cast<std::size_t>(policy)); }

Options Options::from_environment() {
  Options o;
  if (const char* wait = std::getenv("PAPFFT_WAIT"); wait != nullptr) {
    try {
      o.wait = parse_wait_policy(wait);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(std::string("PAPFFT_WAIT: ") + e.what());
    }
  }
  constexpr long long kDayMs = 86'400'000;
  read_number("PAPFFT_NAP_US", 1, 1'000'000,
              [&](long long v) { o.longest_nap = std::chrono::microseconds(v); });
  read_number("PAPFFT_SENDS", 1, 1024, [&](long long v) { o.sends_in_flight = static_cast<int>(v); });
  read_number("PAPFFT_RECEIVES", 1, 1024, [&](long long v) { o.receives_in_flight = static_cast<int>(v); });
  read_number("PAPFFT_STUCK_MS", 0, kDayMs,
              [&](long long v) { o.stuck_after = std::chrono::milliseconds(v); });
  read_number("PAPFFT_CHECK", 0, 1, [&](long long v) { o.check_arguments = v == 1; });
  read_number("PAPFFT_HEAD_BYTES", 1, std::numeric_limits<int>::max(),
              [&](long long v) { o.head_bytes = static_cast<std::size_t>(v); });
  read_number("PAPFFT_CHUNK_BYTES", 64, std::numeric_limits<int>::max(),
              [&](long long v) { o.chunk_bytes = static_cast<std::size_t>(v); });
  read_number("PAPFFT_CREDITS", 0, 1024, [&](long long v) { o.credits = static_cast<int>(v); });
  read_number("PAPFFT_SHARE_MEMORY", 0, 1, [&](long long v) { o.share_memory = v == 1; });
  constexpr double kSecondNs = 1e9;
  o.learn_link = std::getenv("PAPFFT_ALPHA_NS") == nullptr && std::getenv("PAPFFT_BETA_NS") == nullptr;
  read_number("PAPFFT_LEARN_LINK", 0, 1, [&](long long v) { o.learn_link = v == 1; });
  read_number("PAPFFT_GUARD", 0, 1, [&](long long v) { o.guard = v == 1; });
  read_time("PAPFFT_ALPHA_NS", kSecondNs, o.link.alpha_ns);
  read_time("PAPFFT_BETA_NS", kSecondNs, o.link.beta_ns_per_byte);
  read_time("PAPFFT_GAMMA_NS", kSecondNs, o.link.gamma_ns_per_byte);
  read_time("PAPFFT_LATENCY_NS", kSecondNs, o.link.latency_ns);
  return o;
}

}  // namespace papfft::comm
