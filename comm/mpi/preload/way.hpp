// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace papfft::comm::preload {

/// What a call needs that goes on when the program's function has returned: the program may free its datatypes then, and lists of counts
/// may be gone before a persistent call is started. Dropped with the call.
class Held {
 public:
  Held() = default;
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  /// @return a datatype that means the same, and lives as long as this object
  [[nodiscard]] MPI_Datatype like(MPI_Datatype type);
  /// @return copies, which do not move
  [[nodiscard]] const int* copy(std::span<const int> counts) {
    return lists_.emplace_back(counts.begin(), counts.end()).data();
  }
  /// Of each datatype one that means the same.
  [[nodiscard]] const MPI_Datatype* all_like(std::span<const MPI_Datatype> types);

 private:
  std::vector<MPI_Datatype> types_;
  std::vector<std::vector<int>> lists_;
  std::vector<std::vector<MPI_Datatype>> type_lists_;
};

/// How the program made a call: whom the call passes to, and whether the program waits for its end.
class Way {
 public:
  enum class Form : std::uint8_t {
    blocking,
    started,    ///< MPI_Ibcast
    persistent  ///< MPI_Bcast_init: is described now, and started again and again
  };

  /// @param pass  makes the call with the MPI library; must outlive this object @param request  the program's, unless blocking
  template <typename Pass>
  explicit Way(const Pass& pass, Form form = Form::blocking, MPI_Request* request = nullptr)
      : pass_([](const void* at) { return (*static_cast<const Pass*>(at))(); }),
        passes_by_(&pass),
        form_(form),
        request_(request) {}
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  [[nodiscard]] int pass() {
    is_passing_ = true;
    const int code = pass_(passes_by_);
    is_passing_ = false;
    return code;
  }
  /// The MPI library carries out the call at this moment, or has left it by an exception.
  [[nodiscard]] bool is_passing() const { return is_passing_; }
  /// The call goes on when the program's function has returned.
  [[nodiscard]] bool is_started() const { return form_ != Form::blocking; }
  [[nodiscard]] bool is_persistent() const { return form_ == Form::persistent; }
  [[nodiscard]] MPI_Request* request() const { return request_; }

  // What the call may use as long as it lasts: what the program has given, of a call that goes on what is held for it.
  [[nodiscard]] MPI_Datatype hold(MPI_Datatype type) { return is_started() ? holder().like(type) : type; }
  /// One for each rank. nullptr stays
  [[nodiscard]] const int* hold_counts(const int counts[], int ranks) {
    const bool is_copied = is_started() && counts != nullptr;
    return is_copied ? holder().copy({counts, static_cast<std::size_t>(ranks)}) : counts;
  }
  [[nodiscard]] const MPI_Datatype* hold_types(const MPI_Datatype types[], int ranks) {
    const bool is_copied = is_started() && types != nullptr;
    return is_copied ? holder().all_like({types, static_cast<std::size_t>(ranks)}) : types;
  }
  /// nullptr: nothing
  [[nodiscard]] std::shared_ptr<const Held> held() const { return held_; }

 private:
  [[nodiscard]] Held& holder();

  int (*pass_)(const void*);
  const void* passes_by_;
  Form form_;
  MPI_Request* request_;
  bool is_passing_ = false;
  std::shared_ptr<Held> held_;
};

}  // namespace papfft::comm::preload
