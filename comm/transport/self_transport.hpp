// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>

#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// A group of one: a program started alone needs no MPI. There is nobody to send to.
class SelfTransport final : public Transport {
 public:
  [[nodiscard]] Rank rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] int max_tag() const override { return 32767; }
  [[nodiscard]] int ranks_on_host() const override { return 1; }
  [[nodiscard]] bool threads_allowed() const override { return true; }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return std::make_unique<NoChannel>(); }

 private:
  class NoChannel final : public Channel {
   public:
    int isend(Rank /*target*/, int /*tag*/, std::span<const std::byte> /*data*/) override { fail(); }
    int issend(Rank /*target*/, int /*tag*/, std::span<const std::byte> /*data*/) override { fail(); }
    int irecv(Rank /*source*/, int /*tag*/, std::span<std::byte> /*data*/) override { fail(); }
    bool poll(std::vector<int>& /*ended*/) override { return false; }

   private:
    [[noreturn]] static void fail() {
      throw TransportError("rank 0 is alone: nobody to exchange messages with");
    }
  };
};

}  // namespace papfft::comm
