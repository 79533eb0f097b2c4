// SPDX-License-Identifier: MIT
// What crosses the boundary between a user's program and the library: exceptions that are thrown inside and caught outside by
// their own type, and by their base; a user's Reducer and Observer that the library calls; what a call throws of the user's.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <papfft/errors.hpp>
#include <papfft/mpi.hpp>
#include <papfft/recorder.hpp>
#include <span>
#include <sstream>
#include <typeinfo>
#include <vector>

namespace {

using namespace papfft::comm;

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                \
    }                                                              \
  } while (false)

template <typename Error, typename Body>
bool throws(const Body& body) {
  try {
    body();
  } catch (const Error& e) {
    return typeid(e) == typeid(Error) && e.what()[0] != '\0';
  }
  return false;
}

class CountCalls final : public Observer {
 public:
  void call_ended(const CallRecord& call) override {
    calls += call.operation == Operation::allreduce ? 1 : 0;
  }
  int calls = 0;
};

struct Largest {
  int operator()(int a, int b) const { return a > b ? a : b; }
};

}  // namespace

int main(int argc, char** argv) {
  CHECK(throws<StateError>([] { Communicator comm(MPI_COMM_WORLD); }));
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    MpiSession session(MPI_COMM_WORLD);
    CountCalls observer;
    session.observe(&observer);
    const int mine = session.rank();
    int largest = -1;
    session.allreduce<int>(std::span(&mine, 1), std::span(&largest, 1), Largest(), "ring");
    session.observe(nullptr);
    CHECK(largest == session.size() - 1 && observer.calls == 1);

    Recorder recorder;
    session.observe(&recorder);
    std::vector<int> all(static_cast<std::size_t>(session.size()));
    session.gather<int>(std::span(&mine, 1), all, 0, "lin");
    session.observe(nullptr);
    const Timeline timeline = recorder.collect_timeline(session);
    if (session.rank() == 0) {
      CHECK(timeline.calls.calls.size() == 1);
      std::stringstream file;
      write_recording(file, {.ranks = 1, .dropped = 0, .calls = {}}, {"a remark"});
      CHECK(throws<TraceError>([] {
        std::istringstream broken("0,0,gather");
        (void)read_recording(broken);
      }));
    }
    CHECK(
        throws<std::invalid_argument>([&] { session.gather<int>(std::span(&mine, 1), all, 0, "nonsense"); }));
  }
  {
    Options options;
    options.check_arguments = true;
    Communicator comm(MPI_COMM_WORLD, options);
    std::vector<int> data(static_cast<std::size_t>(1 + comm.rank()));
    CHECK(throws<MismatchError>([&] { comm.bcast<int>(data, 0, "bnom"); }));
  }
  {
    Options options;
    options.stuck_after = std::chrono::milliseconds(200);
    Communicator comm(MPI_COMM_WORLD, options);
    int value = 0;
    // The others never come.
    if (comm.rank() == 0)
      CHECK(throws<StuckError>([&] {
        comm.reduce<int>(std::span<const int>(&value, 1), std::span(&value, 1), Largest(), 0, "bnom");
      }));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  {
    Communicator comm(MPI_COMM_WORLD);
    std::vector<int> data(static_cast<std::size_t>(comm.rank() == 0 ? 1 : 2));
    if (comm.rank() < 2) {  // rank 1 expects more than comes
      bool failed = false;
      try {
        comm.scatter<int>(std::vector<int>(3), std::span(data), 0, "lin");
      } catch (const TransportError&) {
        failed = true;
      }
      CHECK(failed == (comm.rank() == 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
