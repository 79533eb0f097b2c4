// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <span>

#include "comm/transport/transport.hpp"

namespace papfft::comm::test {

/// Another transport as it is; tests change what they are about.
class ForwardingTransport : public Transport {
 public:
  /// @param of  must outlive this object
  explicit ForwardingTransport(Transport& of) : of_(of) {}
  [[nodiscard]] Rank rank() const override { return of_.rank(); }
  [[nodiscard]] int size() const override { return of_.size(); }
  [[nodiscard]] int max_tag() const override { return of_.max_tag(); }
  [[nodiscard]] int ranks_on_host() const override { return of_.ranks_on_host(); }
  [[nodiscard]] int cores_on_host() const override { return of_.cores_on_host(); }
  [[nodiscard]] std::span<const int> host_of_rank() const override { return of_.host_of_rank(); }
  [[nodiscard]] bool is_any_crowded() const override { return of_.is_any_crowded(); }
  [[nodiscard]] bool polls_yield() const override { return of_.polls_yield(); }
  [[nodiscard]] bool has_pipes() const override { return of_.has_pipes(); }
  [[nodiscard]] bool threads_allowed() const override { return of_.threads_allowed(); }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return of_.open(); }

 private:
  Transport& of_;
};

}  // namespace papfft::comm::test
