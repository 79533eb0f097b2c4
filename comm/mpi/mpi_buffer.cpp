// SPDX-License-Identifier: MIT
#include "comm/mpi/mpi_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "comm/mpi/mpi_lifetime.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::comm {

namespace {

constexpr std::size_t kMostBytesAtOnce = std::size_t{1} << 30;  // MPI_Pack counts bytes in an int
/// Combined at once. Three times as much fits into a core's first cache.
constexpr std::size_t kNearBytes = std::size_t{8} << 10;

bool is_named(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  PAPFFT_MPI(MPI_Type_get_envelope, type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

/// Calls step(element, count) for runs of elements that MPI can pack at once.
template <typename Step>
void in_runs(std::size_t count, std::size_t element_bytes, Step step) {
  const std::size_t run =
      std::max<std::size_t>(1, kMostBytesAtOnce / std::max<std::size_t>(1, element_bytes));
  for (std::size_t at = 0; at < count; at += run) step(at, static_cast<int>(std::min(run, count - at)));
}

}  // namespace

std::size_t packed_bytes(MPI_Datatype type) {
  if (mpi_has_ended()) require_mpi();
  MPI_Count size = 0;
  PAPFFT_MPI(MPI_Type_size_x, type, &size);
  return static_cast<std::size_t>(size);
}

std::size_t extent_bytes(MPI_Datatype type) {
  if (mpi_has_ended()) require_mpi();
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PAPFFT_MPI(MPI_Type_get_extent, type, &lower, &extent);
  return static_cast<std::size_t>(extent);
}

bool is_dense(MPI_Datatype type) {
  // A derived type may list its parts in another order than that of memory, so only named ones are taken for dense.
  return is_named(type) && packed_bytes(type) == extent_bytes(type);
}

void pack_elements(const void* buffer, std::size_t count, MPI_Datatype type, std::byte* to) {
  const std::size_t size = packed_bytes(type);
  if (size == 0) return;  // MPI_Pack takes no room of 0 bytes
  const auto* from = static_cast<const std::byte*>(buffer);
  in_runs(count, size, [&](std::size_t at, int run) {
    int position = 0;
    const auto room = static_cast<int>(static_cast<std::size_t>(run) * size);
    PAPFFT_MPI(MPI_Pack, from + at * extent_bytes(type), run, type, to + at * size, room, &position,
               MPI_COMM_SELF);
    if (position != room) throw std::runtime_error("papfft: this MPI packs more than the data");
  });
}

void unpack_elements(const std::byte* from, void* buffer, std::size_t count, MPI_Datatype type) {
  const std::size_t size = packed_bytes(type);
  if (size == 0) return;
  auto* const to = static_cast<std::byte*>(buffer);
  in_runs(count, size, [&](std::size_t at, int run) {
    int position = 0;
    const auto room = static_cast<int>(static_cast<std::size_t>(run) * size);
    PAPFFT_MPI(MPI_Unpack, from + at * size, room, &position, to + at * extent_bytes(type), run, type,
               MPI_COMM_SELF);
  });
}

PackedBuffer::PackedBuffer(const void* buffer, std::size_t count, MPI_Datatype type, bool apart)
    : buffer_(static_cast<std::byte*>(const_cast<void*>(buffer))), count_(count), type_(type) {
  const std::size_t bytes = count * packed_bytes(type);
  if (!apart && is_dense(type)) {
    bytes_ = {buffer_, bytes};
    return;
  }
  copy_.resize(bytes);
  bytes_ = copy_;
}

void PackedBuffer::pack() {
  if (!copy_.empty()) pack_elements(buffer_, count_, type_, copy_.data());
}

void PackedBuffer::unpack() {
  if (!copy_.empty()) unpack_elements(copy_.data(), buffer_, count_, type_);
}

MpiReducer::MpiReducer(MPI_Op op, MPI_Datatype type)
    : op_(op), type_(type), extent_(std::max<std::size_t>(1, extent_bytes(type))) {
  int commutative = 0;
  PAPFFT_MPI(MPI_Op_commutative, op, &commutative);
  commutative_ = commutative != 0;
}

std::unique_ptr<Reducer> MpiReducer::clone() const {
  return name().empty() ? nullptr : std::make_unique<MpiReducer>(*this);
}

std::string MpiReducer::name() const {
  static const std::array<std::pair<MPI_Op, const char*>, 12> own = {{{MPI_MAX, "MPI_MAX"},
                                                                      {MPI_MIN, "MPI_MIN"},
                                                                      {MPI_SUM, "MPI_SUM"},
                                                                      {MPI_PROD, "MPI_PROD"},
                                                                      {MPI_LAND, "MPI_LAND"},
                                                                      {MPI_BAND, "MPI_BAND"},
                                                                      {MPI_LOR, "MPI_LOR"},
                                                                      {MPI_BOR, "MPI_BOR"},
                                                                      {MPI_LXOR, "MPI_LXOR"},
                                                                      {MPI_BXOR, "MPI_BXOR"},
                                                                      {MPI_MAXLOC, "MPI_MAXLOC"},
                                                                      {MPI_MINLOC, "MPI_MINLOC"}}};
  const auto* const found = std::ranges::find(own, op_, &std::pair<MPI_Op, const char*>::first);
  if (found == own.end() || !is_named(type_)) return {};
  std::array<char, MPI_MAX_OBJECT_NAME> type{};
  int length = 0;
  PAPFFT_MPI(MPI_Type_get_name, type_, type.data(), &length);
  return std::string(found->second) + " on " + type.data();
}

/// MPI_Reduce_local knows inout = in (+) inout alone. What must be moved for that is moved piece by piece, so that a piece is still in
/// the nearest cache when it is combined.
void MpiReducer::combine(const std::byte* left, const std::byte* right, std::byte* out,
                         std::size_t bytes) const {
  if (out == left && commutative_) std::swap(left, right);
  const auto onto = [&](const std::byte* in, std::byte* sum, std::size_t some) {
    in_runs(some / extent_, extent_, [&](std::size_t at, int run) {
      PAPFFT_MPI(MPI_Reduce_local, in + at * extent_, sum + at * extent_, run, type_, op_);
    });
  };
  if (out == right) return onto(left, out, bytes);
  const std::size_t piece = std::max<std::size_t>(1, kNearBytes / extent_) * extent_;
  std::vector<std::byte> aside(out == left ? std::min(piece, bytes) : 0);
  for (std::size_t at = 0; at < bytes; at += piece) {
    const std::size_t some = std::min(piece, bytes - at);
    std::byte* sum = aside.empty() ? out + at : aside.data();
    std::memcpy(sum, right + at, some);
    onto(left + at, sum, some);
    if (!aside.empty()) std::memcpy(out + at, sum, some);
  }
}

}  // namespace papfft::comm
