// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "papfft/reducer.hpp"

namespace papfft::comm {

/// Copies `count` elements of an MPI datatype to bytes without gaps, or back.
void pack_elements(const void* buffer, std::size_t count, MPI_Datatype type, std::byte* to);
void unpack_elements(const std::byte* from, void* buffer, std::size_t count, MPI_Datatype type);

/// A caller's buffer of `count` elements of an MPI datatype as bytes without gaps: the memory itself where the type
/// is dense, else a copy.
class PackedBuffer {
 public:
  /// @param apart  a copy in any case
  PackedBuffer(const void* buffer, std::size_t count, MPI_Datatype type, bool apart = false);
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Fills the copy from the caller's buffer, if there is a copy.
  void pack();
  /// Brings the copy back.
  void unpack();

 private:
  std::byte* buffer_;
  std::size_t count_;
  MPI_Datatype type_;
  std::vector<std::byte> copy_;
  std::span<std::byte> bytes_;
};

/// Size of one element of `type` in packed bytes.
[[nodiscard]] std::size_t packed_bytes(MPI_Datatype type);
/// Bytes from one element to the next.
[[nodiscard]] std::size_t extent_bytes(MPI_Datatype type);
/// Memory of one element is its packed bytes, in order.
[[nodiscard]] bool is_dense(MPI_Datatype type);

/// An MPI_Op on a datatype whose elements lie `extent` apart without a lower bound.
class MpiReducer final : public Reducer {
 public:
  MpiReducer(MPI_Op op, MPI_Datatype type);
  void combine(const std::byte* left, const std::byte* right, std::byte* out,
               std::size_t bytes) const override;
  [[nodiscard]] std::size_t element_bytes() const override { return extent_; }
  [[nodiscard]] bool commutative() const override { return commutative_; }
  /// Of MPI's own operations on its own types; others may be freed by the caller while a copy is in use.
  [[nodiscard]] std::unique_ptr<Reducer> clone() const override;
  /// "MPI_SUM on MPI_DOUBLE", or nothing where there is no clone.
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] bool is_stock() const override { return true; }
  [[nodiscard]] MPI_Op op() const { return op_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Op op_;
  MPI_Datatype type_;
  std::size_t extent_;
  bool commutative_ = false;
};

}  // namespace papfft::comm
