// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <utility>
#include <vector>

namespace papfft::comm::preload {

/// How the program made a call: whom the call passes to, and whether it is only started (MPI_Ibcast).
class Way {
 public:
  /// @param pass  makes the call with the MPI library; must outlive this object @param request  of a call that is started
  template <typename Pass>
  explicit Way(const Pass& pass, MPI_Request* request = nullptr)
      : pass_([](const void* at) { return (*static_cast<const Pass*>(at))(); }),
        passes_by_(&pass),
        request_(request) {}
  ~Way() { release(types_); }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  [[nodiscard]] int pass() const { return pass_(passes_by_); }
  [[nodiscard]] bool is_started() const { return request_ != nullptr; }
  [[nodiscard]] MPI_Request* request() const { return request_; }

  /// A program may free its datatypes while a call that it has started is under way.
  /// @return a datatype that means the same, and lives until release()
  [[nodiscard]] MPI_Datatype hold(MPI_Datatype type) { return is_started() ? held(type) : type; }
  /// @return what hold() has made
  [[nodiscard]] std::vector<MPI_Datatype> take_held() { return std::exchange(types_, {}); }
  static void release(std::vector<MPI_Datatype>& types) {
    for (MPI_Datatype& type : types) PMPI_Type_free(&type);
    types.clear();
  }

 private:
  [[nodiscard]] MPI_Datatype held(MPI_Datatype type);

  int (*pass_)(const void*);
  const void* passes_by_;
  MPI_Request* request_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace papfft::comm::preload
