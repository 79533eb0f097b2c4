// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "comm/mpi/mpi_buffer.hpp"
#include "papfft/collectives.hpp"
#include "papfft/mpi_lists.h"

namespace papfft::comm {

/// A block for each rank, of any size and anywhere in a caller's buffer, as bytes one block behind the other: the memory itself where
/// the blocks lie so, else a copy.
class PackedBlocks {
 public:
  /// @param call  for messages @param displs  in elements @param apart  a copy in any case
  /// @throws std::invalid_argument  a negative count
  PackedBlocks(const char* call, const void* buffer, const int counts[], const int displs[], int ranks,
               MPI_Datatype type, bool apart = false);
  /// Each block has a datatype of its own. @param displs  in bytes
  PackedBlocks(const char* call, const void* buffer, const int counts[], const int displs[], int ranks,
               const MPI_Datatype types[], bool apart = false);

  [[nodiscard]] std::span<const std::size_t> sizes() const { return sizes_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Fills the copy from the caller's buffer, if there is a copy.
  void pack();
  /// Brings the copy back.
  void unpack();

 private:
  struct Place {
    std::byte* at;
    std::size_t count;
    MPI_Datatype type;
  };
  void add(const char* call, const void* at, int count, MPI_Datatype type);
  void find_memory(bool apart);

  std::vector<Place> places_;
  std::vector<std::size_t> sizes_;
  std::size_t total_ = 0;
  std::vector<std::byte> copy_;
  std::span<std::byte> bytes_;
};

/// `count` elements of a reduction's datatype. A user's operation sees elements laid out as its datatype says, so those with gaps are
/// moved with them, apart from the caller's memory. The caller's own gaps stay untouched, since what comes back comes through MPI.
class ReducedElements {
 public:
  /// @param apart  a copy in any case @throws std::invalid_argument  a datatype that reaches outside its extent
  ReducedElements(const char* call, const void* buffer, std::size_t count, MPI_Datatype type,
                  bool apart = false);

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  void pack() { move(buffer_, copy_.data()); }
  void unpack() { move(copy_.data(), buffer_); }

 private:
  void move(const std::byte* from, std::byte* to) const;

  std::byte* buffer_;
  std::size_t count_;
  MPI_Datatype type_;
  std::vector<std::byte> copy_;
  std::span<std::byte> bytes_;
};

/// A call with MPI's arguments, as one of bytes: the same for a blocking call, a started one and a persistent one. Keeps the copies of
/// what is not contiguous, the blocks' sizes and the operation.
class MpiArguments final : public CallCopies {
 public:
  using Side = std::variant<std::monostate, PackedBuffer, PackedBlocks, ReducedElements>;

  MpiArguments(Operation operation, int root) : operation_(operation), root_(root) {}
  MpiArguments(MpiArguments&&) = default;  // a copy's bytes would be those of the original

  void set_send(Side side) { send_ = std::move(side); }
  void set_recv(Side side) { recv_ = std::move(side); }
  /// The result is in its place in `send`, and nothing is to be brought back to the caller.
  void set_recv_in_place(std::size_t offset_bytes, std::size_t bytes) { in_place_ = {offset_bytes, bytes}; }
  void set_sizes(std::span<const std::size_t> block_bytes,
                 std::span<const std::size_t> recv_block_bytes = {}) {
    block_bytes_.assign(block_bytes.begin(), block_bytes.end());
    recv_block_bytes_.assign(recv_block_bytes.begin(), recv_block_bytes.end());
  }
  void set_reducer(const MpiReducer& reducer) { reducer_ = reducer; }

  /// For Collectives::prepared. Valid while this object stays where it is.
  [[nodiscard]] CallArguments bytes(std::string_view algorithm);

  void pack() override;
  void unpack() override;

 private:
  struct InPlace {
    std::size_t offset_bytes = 0;
    std::size_t bytes = 0;
  };
  Operation operation_;
  int root_;
  Side send_;
  Side recv_;
  std::optional<InPlace> in_place_;
  std::vector<std::size_t> block_bytes_;
  std::vector<std::size_t> recv_block_bytes_;
  std::optional<MpiReducer> reducer_;
};

/// One function per operation. @throws std::invalid_argument  arguments that make no sense
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) \
  [[nodiscard]] MpiArguments name##_arguments(const Collectives& comm, PAPFFT_LIST parameters);
PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_

}  // namespace papfft::comm
