// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// What one stuck rank says to the others and hears from them, each stuck rank in a council of its own. See Watchdog.
class StuckCouncil {
 public:
  /// Tells the others at once. @param transport  must outlive this object. @param mine  whom this rank waits for
  StuckCouncil(Transport& transport, const std::string& mine);

  /// Hears what comes in this time, and what has come at least. @throws TransportError
  void listen(std::chrono::milliseconds time, std::chrono::microseconds longest_nap);

  /// Nobody has spoken yet, and no lower rank that is stuck was heard of, which would.
  [[nodiscard]] bool must_speak() const;
  /// This rank speaks: so the others need not.
  void tell_verdict();

  /// Who waits for whom, in printable characters.
  [[nodiscard]] std::string text() const;

 private:
  struct Words;

  /// @param came  becomes 1 when the message has ended: what it brings may not be looked at before
  void expect(int ticket, std::uint8_t* came);

  Transport& transport_;
  std::size_t size_;
  std::size_t self_;
  std::unique_ptr<Channel> channel_;
  std::shared_ptr<Words> words_;
  std::vector<std::uint8_t> noted_;  // per rank: its note has come
  std::vector<std::uint8_t> spoke_;  // per rank: its verdict has come
  std::vector<std::uint8_t*> came_;  // by ticket: which of these it is, or nullptr
};

}  // namespace papfft::comm
