// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/communicators.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "comm/engine/steady_clock.hpp"
#include "comm/mpi/preload/bare_communicator.hpp"
#include "comm/mpi/preload/inside.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/next_functions.hpp"
#include "comm/mpi/preload/own_work.hpp"

namespace papfft::comm::preload {

namespace {

/// Runs when the program frees its communicator, on all of the ranks.
int drop(MPI_Comm /*comm*/, int /*keyval*/, void* group, void* /*extra*/) {
  const Inside inside;
  delete static_cast<Group*>(group);
  return MPI_SUCCESS;
}

/// What all ranks say. Collective, by the program's own communicator: a call of all of its ranks is under way on it.
template <std::size_t n>
std::array<bool, n> all_say(const std::array<bool, n>& mine, MPI_Comm comm) {
  std::array<int, n> numbers{};
  std::ranges::transform(mine, numbers.begin(), [](bool yes) { return yes ? 1 : 0; });
  const int code = next_pmpi().allreduce(MPI_IN_PLACE, numbers.data(), n, MPI_INT, MPI_MIN, comm);
  std::array<bool, n> all{};
  std::ranges::transform(numbers, all.begin(), [&](int least) { return code == MPI_SUCCESS && least == 1; });
  return all;
}

/// Collective. There is no link to wait for, and nothing to begin early.
bool is_on_one_host(MPI_Comm comm) {
  MPI_Comm host = MPI_COMM_NULL;
  int here = 0;
  int ranks = 0;
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PMPI_Comm_size(host, &here);
  PMPI_Comm_size(comm, &ranks);
  PMPI_Comm_free(&host);
  return here == ranks;
}

/// Fills in what serves the group's calls; nothing, if that fails on this rank. @return why
/// @throws std::bad_alloc  memory can be missing in the middle, where others wait for this rank: it could not tell them
std::string make(Group& group, MPI_Comm comm, const Options& options, bool with_session) {
  try {
    const BareCommunicator bare(comm);
    if (with_session && !is_on_one_host(bare.get())) {
      auto session = std::make_unique<MpiSession>(bare.get(), options);
      group.session = session.get();
      group.ours = std::move(session);
    } else {
      group.ours = std::make_unique<Communicator>(bare.get(), options);
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

/// Of the ranks on which something has failed, the lowest prints why. Collective. @return  it has failed on none
bool all_have(const std::string& error, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  int first = error.empty() ? INT_MAX : rank;
  const int code = next_pmpi().allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == rank)
    std::fprintf(stderr, "papfft preload: %s; the calls on this communicator go to the MPI library\n",
                 error.c_str());
  return code == MPI_SUCCESS && first == INT_MAX;
}

/// "MPI_Bcast of 800000 bytes".
std::string text_of(const Call& call) {
  std::string name(to_string(call.operation));
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return "MPI_" + name + " of " + std::to_string(call.bytes) + " bytes";
}

void add(ExpectedCalls& sum, const SessionStatistics& session) {
  sum.calls += session.calls;
  sum.planned += session.planned;
  sum.begun_early += session.begun_early;
}

}  // namespace

Group::~Group() {
  if (owner != nullptr) owner->forget(*this);
}

Communicators::Communicators(const Settings& settings, const Options& options)
    : settings_(settings),
      options_(options),
      most_(settings.most_communicators.value_or(Settings::kMostCommunicators)) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval_, nullptr);
}

Group* Communicators::find(MPI_Comm comm) const {
  void* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&found), &is_there);
  return is_there != 0 ? static_cast<Group*>(found) : nullptr;
}

Group& Communicators::of(const Call& call) {
  if (Group* const known = find(call.comm)) return *known;
  auto* const made = new Group;  // the attribute owns it
  PMPI_Comm_set_attr(call.comm, keyval_, made);
  fill(*made, call);
  return *made;
}

void Communicators::make_only(const Call& call) {
  (void)of(call);
  most_ = 0;
  no_more_ = Reason::with_threads;
}

/// A thread of ours may call MPI beside the program's, and nothing must be the same from run to run.
bool Communicators::may_have_session() const {
  if (settings_.thread == Thread::none || settings_.is_reproducible) return false;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  const std::lock_guard lock(mutex_);
  return level == MPI_THREAD_MULTIPLE && std::ssize(sessions_) < kMostSessions;
}

void Communicators::fill(Group& group, const Call& call) {
  MPI_Comm const comm = call.comm;
  group.reason = reason_to_pass(facts_of(comm));
  if (group.reason != Reason::none) return;
  const OwnWork work(options_, "makes a communicator for " + text_of(call));
  // Both may differ from rank to rank, which belong to different communicators.
  const auto [has_room, may_have_session] = all_say<2>({living_ < most_, this->may_have_session()}, comm);
  if (!has_room) {
    group.reason = no_more_;
    return;
  }
  const std::int64_t from_ns = steady_now_ns();
  if (!all_have(make(group, comm, options_, may_have_session), comm)) {
    group.reason = Reason::failed;
    group.session = nullptr;
    group.ours = nullptr;
    return;
  }
  group.owner = this;
  ++living_;
  ++made_;
  making_ns_ += steady_now_ns() - from_ns;
  const std::lock_guard lock(mutex_);
  if (group.session != nullptr) sessions_.push_back(group.session);
}

void Communicators::forget(const Group& group) {
  --living_;
  if (group.session == nullptr) return;
  const std::lock_guard lock(mutex_);
  std::erase(sessions_, group.session);
  add(ended_, group.session->statistics());
}

ExpectedCalls Communicators::expected_calls() const {
  const std::lock_guard lock(mutex_);
  ExpectedCalls all = ended_;
  for (const Session* session : sessions_) add(all, session->statistics());
  return all;
}

}  // namespace papfft::comm::preload
