// SPDX-License-Identifier: MIT
// What is used before MPI_Init, after MPI_Finalize or on MPI_COMM_NULL throws; what is destroyed then does no harm. MPI itself
// would abort. Run by mpirun with any number of ranks: lifetime_test CASE.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "papfft/mpi.hpp"
#include "papfft/recorder.hpp"

namespace {

using papfft::comm::ArrivalRecording;
using papfft::comm::Communicator;
using papfft::comm::MpiSession;
using papfft::comm::Pending;
using papfft::comm::PersistentCall;
using papfft::comm::Recorder;
using papfft::comm::StateError;

[[noreturn]] void fail(const char* what, int line) {
  std::fprintf(stderr, "line %d: %s\n", line, what);
  std::_Exit(1);
}

#define CHECK(condition) ((condition) ? void() : fail(#condition, __LINE__))

template <typename Error, typename Body>
bool throws(const Body& body) {
  try {
    body();
  } catch (const Error& e) {
    return std::string(e.what()).find("MPI") != std::string::npos;
  }
  return false;
}

void begin(int level = MPI_THREAD_MULTIPLE) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
}

void nothing_can_be_made() {
  CHECK(throws<StateError>([] { Communicator comm(MPI_COMM_WORLD); }));
  CHECK(throws<StateError>([] { MpiSession session(MPI_COMM_WORLD); }));
  CHECK(throws<StateError>([] { Communicator comm(MPI_COMM_NULL); }));
}

void use(MpiSession& session) {
  std::vector<int> mine(1000, session.rank());
  std::vector<int> whole(mine.size() * static_cast<std::size_t>(session.size()));
  for (int i = 0; i < 5; ++i) {
    session.processing_start();
    session.edge(0.5);
    session.processing_end();
    session.gather<int>(mine, whole, 0, "bsls");
  }
  CHECK(session.rank() != 0 || whole.back() == session.size() - 1);
}

void never() {
  nothing_can_be_made();
  Recorder recorder;  // needs no MPI
  begin();
  CHECK(throws<std::invalid_argument>([] { Communicator comm(MPI_COMM_NULL); }));
  CHECK(throws<std::invalid_argument>([] { MpiSession session(MPI_COMM_NULL); }));
  MPI_Finalize();
}

/// With what follows the last call already expected, and perhaps begun, in the background.
void open_session(int level) {
  std::optional<MpiSession> session;
  begin(level);
  session.emplace(MPI_COMM_WORLD);
  use(*session);
  MPI_Finalize();
  int value = 1;
  CHECK(throws<StateError>([&] { session->bcast<int>({&value, 1}, 0, "bnom"); }));
  CHECK(throws<StateError>([&] { session->bcast(&value, 1, MPI_INT, 0); }));
  CHECK(throws<StateError>([&] { session->bcast<int>({&value, 1}, 0, "mpi"); }));
  session->close();  // has been
  CHECK(session->statistics().calls == 5);
}

/// Some ranks have closed theirs, the others leave it to MPI_Finalize.
void broken_off() {
  begin();
  auto first = std::make_unique<MpiSession>(MPI_COMM_WORLD);
  auto second = std::make_unique<MpiSession>(MPI_COMM_WORLD);
  use(*first);
  use(*second);
  if (second->rank() % 2 == 1) second.reset();
  MPI_Finalize();
}

void communicator() {
  begin();
  auto comm = std::make_unique<Communicator>(MPI_COMM_WORLD);
  Communicator moved(std::move(*comm));
  int value = moved.rank();
  moved.bcast<int>({&value, 1}, 0, "bnom");
  CHECK(value == 0);
  MPI_Finalize();
  std::vector<int> whole(static_cast<std::size_t>(moved.size()));
  const int sum = 0;
  CHECK(throws<StateError>([&] { moved.bcast<int>({&value, 1}, 0, "bnom"); }) || moved.size() == 1);
  CHECK(throws<StateError>([&] { moved.bcast(&value, 1, MPI_INT, 0, "bnom"); }));
  CHECK(throws<StateError>([&] { moved.reduce(&sum, &value, 1, MPI_INT, MPI_SUM, 0); }));
  CHECK(throws<StateError>([&] { moved.gather(&value, 1, MPI_INT, whole.data(), 1, MPI_INT, 0); }));
  CHECK(throws<StateError>([&] { moved.barrier(); }) || moved.size() == 1);
}

void pending() {
  begin();
  Communicator comm(MPI_COMM_WORLD);
  std::vector<int> mine(100'000);
  std::vector<int> whole(mine.size() * static_cast<std::size_t>(comm.size()));
  // Rank 0 does not start it, so nobody can end it; rank 0 waits for nothing.
  Pending gather;
  if (comm.rank() != 0) gather = comm.igather<int>(mine, whole, 0, "lin");
  MPI_Finalize();
  if (!gather.done()) CHECK(throws<StateError>([&] { gather.wait(); }));
}

void persistent() {
  std::vector<int> mine(1000);
  begin();
  auto session = std::make_unique<MpiSession>(MPI_COMM_WORLD);
  std::vector<int> whole(mine.size() * static_cast<std::size_t>(session->size()));
  PersistentCall gather = session->gather_init<int>(mine, whole, 0, "bsls");
  gather.call();
  gather.start();
  MPI_Finalize();
  bool refused = false;
  try {
    gather.wait();
  } catch (const StateError&) {
    refused = true;
  }
  CHECK(refused);
  session.reset();
}

void recorder() {
  begin();
  MpiSession session(MPI_COMM_WORLD);
  Recorder recorder;
  session.observe(&recorder);
  recorder.follow([&] { return session.now_ns(); });
  use(session);
  MPI_Finalize();
  recorder.unfollow();
  CHECK(session.size() == 1 || throws<StateError>([&] { (void)recorder.collect(session); }));
}

/// Destroyed by exit(), long after MPI.
void statics() {
  begin();
  static MpiSession session(MPI_COMM_WORLD);
  static Communicator comm(MPI_COMM_WORLD);
  use(session);
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::pair<std::string, std::function<void()>>> cases = {
      {"never", never},
      {"open_session", [] { open_session(MPI_THREAD_MULTIPLE); }},
      {"open_session_single", [] { open_session(MPI_THREAD_SERIALIZED); }},
      {"broken_off", broken_off},
      {"communicator", communicator},
      {"pending", pending},
      {"persistent", persistent},
      {"recorder", recorder},
      {"statics", statics}};
  for (const auto& [name, run] : cases) {
    if (argc != 2 || name != argv[1]) continue;
    run();
    nothing_can_be_made();
    std::printf("%s: passed\n", name.c_str());
    return 0;
  }
  return 2;
}
