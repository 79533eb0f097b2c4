// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstddef>
#include <span>

#include "comm/engine/wait.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Drives a task's protocol from a blocking call: step() until done(), with naps while nothing happens.
template <typename Step, typename Done>
void drive(const Transport& transport, Step step, Done done) {
  Waiter waiter(WaitPolicy::automatic, std::chrono::microseconds(200), transport.is_crowded(),
                transport.polls_yield());
  while (!done()) {
    if (step()) {
      waiter.progressed();
    } else {
      waiter.pause();
    }
  }
}

}  // namespace papfft::comm
