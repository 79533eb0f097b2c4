// SPDX-License-Identifier: MIT
// Which calls are surely ours. Pure: values in, a verdict out. All ranks of a call must come to the same verdict without a message, so it
// depends on nothing but what the MPI standard makes equal on all of them: the communicator, the root, the operation, and
// the bytes of the type signature. What is invalid passes on the rank where it is invalid, so that MPI says what is wrong.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "comm/mpi/preload/settings.hpp"

namespace papfft::comm::preload {

/// Why a call passes to the MPI library.
enum class Reason : std::uint8_t {
  none,                 ///< it does not
  too_short,            ///< Settings::least_bytes
  not_taken,            ///< Settings::operations
  invalid,              ///< an argument that MPI refuses
  ordered,              ///< a user's operation that is not commutative
  unknown_combination,  ///< an operation and a datatype that we do not know together
  one_rank,
  intercommunicator,
  strangers,       ///< some rank is not of this MPI_COMM_WORLD, so its settings are unknown
  too_many,        ///< Settings::most_communicators
  with_threads,    ///< not on MPI_COMM_WORLD, and threads may make communicators at this moment
  stock_best,      ///< "auto" leaves calls of that size to the MPI library
  guarded,         ///< the guard of "auto" tried MPI's own way, or has found it faster
  failed,          ///< a call of ours on that communicator has failed before
  too_long,        ///< MPI 4 has a form for counts beyond an int, which ours have not
  no_thread,       ///< the call is only started, and some rank has not been granted MPI_THREAD_MULTIPLE
  users_operation  ///< of a call that is only started: the program may free its operation before the end
};

/// In the order of the enumerators: what the summary says.
inline constexpr std::array<std::string_view, 17> kReasonTexts = {
    "ours",
    "short",
    "operation not taken",
    "invalid argument",
    "operation not commutative",
    "operation and datatype unknown together",
    "one rank",
    "intercommunicator",
    "ranks of several MPI_COMM_WORLDs",
    "too many communicators",
    "not on MPI_COMM_WORLD, in a program with threads",
    "MPI's own is expected to be faster",
    "the guard tried MPI's own, or found it faster",
    "an earlier call failed",
    "2 GiB or longer",
    "started, without MPI_THREAD_MULTIPLE on all ranks",
    "started, with an operation of the program's"};

[[nodiscard]] inline Reason invalid_unless(bool is_right) {
  return is_right ? Reason::none : Reason::invalid;
}

/// The kinds of datatypes that MPI defines its operations on (MPI 3.1, 5.9.2).
enum class TypeKind : std::uint8_t {
  integer,        ///< of C
  other_integer,  ///< of Fortran, or of all languages (MPI_AINT)
  floating,
  logical,
  complex,
  byte,
  pair,
  other
};
/// The kinds of operations: each is defined on the same kinds of datatypes throughout.
enum class OpKind : std::uint8_t {
  extreme,      ///< MPI_MAX, MPI_MIN
  arithmetic,   ///< MPI_SUM, MPI_PROD
  logical,      ///< MPI_LAND, MPI_LOR, MPI_LXOR
  bitwise,      ///< MPI_BAND, MPI_BOR, MPI_BXOR
  with_place,   ///< MPI_MAXLOC, MPI_MINLOC
  commutative,  ///< a user's
  ordered,      ///< a user's that is not commutative
  invalid
};

/// Whether a reduction by such an operation on such a datatype may be ours. A user's operation takes any datatype whose
/// elements lie inside their extents.
/// @param lies_inside  the datatype's data do
[[nodiscard]] Reason reason_to_pass(OpKind op, TypeKind type, bool lies_inside);

/// What a rank sees of a communicator. Equal on all its ranks.
struct GroupFacts {
  int ranks = 1;
  bool is_inter = false;
  bool has_strangers = false;
};
[[nodiscard]] Reason reason_to_pass(const GroupFacts& group);

/// Of a call as long as this. @param bytes  of one block, on average, or of the vector
[[nodiscard]] Reason reason_to_pass(Operation operation, std::size_t bytes, const Settings& settings);

}  // namespace papfft::comm::preload
