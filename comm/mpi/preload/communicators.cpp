// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/communicators.hpp"

#include <cstdio>
#include <exception>
#include <string>

#include "comm/mpi/preload/inside.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/next_functions.hpp"

namespace papfft::comm::preload {

namespace {

/// Runs when the program frees its communicator, on all of the ranks.
int drop(MPI_Comm /*comm*/, int /*keyval*/, void* group, void* /*extra*/) {
  const Inside inside;
  delete static_cast<Group*>(group);
  return MPI_SUCCESS;
}

/// Collective. By the program's own communicator: a call of all of its ranks is under way on it.
bool all_say(bool yes, MPI_Comm comm) {
  int all = yes ? 1 : 0;
  const int code = next_pmpi().allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return code == MPI_SUCCESS && all == 1;
}

/// A communicator without a name, attributes and topology, for as long as it takes to duplicate it.
class BareCommunicator {
 public:
  explicit BareCommunicator(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_create(comm, group, &bare_);
    PMPI_Group_free(&group);
    if (bare_ != MPI_COMM_NULL) PMPI_Comm_set_errhandler(bare_, MPI_ERRORS_RETURN);
  }
  ~BareCommunicator() {
    if (bare_ != MPI_COMM_NULL) PMPI_Comm_free(&bare_);
  }
  BareCommunicator(const BareCommunicator&) = delete;
  BareCommunicator& operator=(const BareCommunicator&) = delete;
  [[nodiscard]] MPI_Comm get() const { return bare_; }

 private:
  MPI_Comm bare_ = MPI_COMM_NULL;
};

/// @return nullptr  that failed on this rank, and its error has been printed
std::unique_ptr<Collectives> made_on(MPI_Comm comm, const Options& options) {
  try {
    const BareCommunicator bare(comm);
    return std::make_unique<Communicator>(bare.get(), options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "papfft preload: %s; the calls on this communicator go to the MPI library\n",
                 e.what());
    return nullptr;
  }
}

}  // namespace

Group::~Group() {
  if (living != nullptr) --*living;
}

Communicators::Communicators(const Settings& settings, const Options& options)
    : settings_(settings), options_(options) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval_, nullptr);
}

Group& Communicators::of(MPI_Comm comm) {
  void* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&found), &is_there);
  if (is_there != 0) return *static_cast<Group*>(found);
  Group* group = made_for(comm).release();  // the attribute owns it
  PMPI_Comm_set_attr(comm, keyval_, group);
  return *group;
}

std::unique_ptr<Group> Communicators::made_for(MPI_Comm comm) {
  auto group = std::make_unique<Group>();
  group->reason = reason_to_pass(facts_of(comm));
  if (group->reason != Reason::none) return group;
  group->living = &living_;
  const bool has_room = living_++ < settings_.most_communicators;  // not on all ranks alike
  if (!all_say(has_room, comm)) {
    group->reason = Reason::too_many;
  } else {
    group->ours = made_on(comm, options_);
    if (!all_say(group->ours != nullptr, comm)) group->reason = Reason::failed;
  }
  if (group->reason == Reason::none) return group;
  group->ours = nullptr;
  group->living = nullptr;
  --living_;
  return group;
}

}  // namespace papfft::comm::preload
