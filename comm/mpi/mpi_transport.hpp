// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <memory>
#include <string_view>
#include <vector>

#include "comm/transport/memory/host_pipes.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// @throws TransportError "<what>: <MPI's text>" unless `code` is MPI_SUCCESS.
void check_mpi(int code, std::string_view what);

/// The same, of a call of MPI. @throws TransportError  "MPI_Comm_dup: <MPI's text>"
#define PAPFFT_MPI(function, ...) ::papfft::comm::check_mpi(function(__VA_ARGS__), #function)

/// Transport over a private duplicate of a communicator, so that our tags never meet the user's.
/// Move-only owner; frees the duplicate, unless MPI is already finalized.
class MpiTransport final : public Transport {
 public:
  /// Collective over `comm` (MPI_Comm_dup). Errors on the duplicate are returned, not fatal.
  /// @param share_memory  long messages between ranks of a host go through memory of ours, if all these want that, can share some and
  /// have a core each
  /// @throws TransportError; std::invalid_argument for an intercommunicator or MPI_COMM_NULL; StateError without MPI.
  explicit MpiTransport(MPI_Comm comm, bool share_memory = true);
  ~MpiTransport() override;
  MpiTransport(MpiTransport&& other) noexcept;
  MpiTransport& operator=(MpiTransport&&) = delete;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int max_tag() const override { return max_tag_; }
  [[nodiscard]] int ranks_on_host() const override { return ranks_on_host_; }
  [[nodiscard]] int cores_on_host() const override { return cores_on_host_; }
  [[nodiscard]] bool is_any_crowded() const override { return is_any_crowded_; }
  [[nodiscard]] std::span<const int> host_of_rank() const override { return host_of_rank_; }
  /// A channel that waits for a pipe may have nothing to ask MPI for.
  [[nodiscard]] bool polls_yield() const override { return mpi_yields_ && !has_pipes(); }
  [[nodiscard]] bool has_pipes() const override { return pipes_ != nullptr; }
  [[nodiscard]] bool threads_allowed() const override { return threads_allowed_; }
  [[nodiscard]] std::unique_ptr<Channel> open() override;
  /// The private duplicate; for collectives of the MPI library itself.
  [[nodiscard]] MPI_Comm native() const { return comm_; }

 private:
  void find_hosts(bool share_memory);

  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0;
  int size_ = 0;
  int max_tag_ = 0;
  int ranks_on_host_ = 1;
  int cores_on_host_ = 1;
  bool is_any_crowded_ = false;
  bool mpi_yields_ = false;
  std::vector<int> host_of_rank_;
  bool threads_allowed_ = false;
  std::shared_ptr<HostPipes> pipes_;
};

}  // namespace papfft::comm
