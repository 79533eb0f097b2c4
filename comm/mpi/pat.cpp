// SPDX-License-Identifier: MIT
#include "papfft/pat.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "comm/choose/select.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

namespace {

constexpr std::array kPatOperations = {Operation::scatter, Operation::gather, Operation::bcast,
                                    Operation::reduce};

/// A call that is refused before anything happened.
struct Refusal {
  PAT_Error error;
  std::string message;
};

/// The process's session.
struct Shared {
  /// Held exclusively to open and close, shared by all other calls.
  std::shared_mutex mutex;
  std::unique_ptr<MpiSession> session;
  MPI_Comm comm = MPI_COMM_NULL;  // the caller's
  std::atomic<int> broken{PAT_SUCCESS};
};

/// Never destroyed: a process that ends by exit() would else wait in a destructor for ranks that do not come.
Shared& shared() {
  static auto* const one = new Shared;
  return *one;
}

std::string& last_message() {
  thread_local std::string message;
  return message;
}

int failed(PAT_Error error, const char* message) noexcept {
  try {
    last_message() = message;
  } catch (...) {
    last_message().clear();
  }
  return error;
}

int breaks(PAT_Error error, const char* message) noexcept {
  shared().broken = error;
  return failed(error, message);
}

/// Runs `body`, and makes of each exception its error code.
template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    body();
    return PAT_SUCCESS;
  } catch (const Refusal& e) {
    return failed(e.error, e.message.c_str());
  } catch (const std::invalid_argument& e) {
    return failed(PAT_ERR_ARGUMENT, e.what());
  } catch (const StateError& e) {
    return failed(PAT_ERR_STATE, e.what());
  } catch (const TransportError& e) {
    return breaks(PAT_ERR_TRANSPORT, e.what());
  } catch (const StuckError& e) {
    return breaks(PAT_ERR_STUCK, e.what());
  } catch (const MismatchError& e) {
    return breaks(PAT_ERR_MISMATCH, e.what());
  } catch (const std::bad_alloc&) {
    return breaks(PAT_ERR_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return breaks(PAT_ERR_INTERNAL, e.what());
  } catch (...) {
    return breaks(PAT_ERR_INTERNAL, "an exception of unknown type");
  }
}

void require_mpi() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0) throw Refusal{PAT_ERR_NO_MPI, "MPI_Init has not been called yet"};
  if (finalized != 0) throw Refusal{PAT_ERR_NO_MPI, "MPI_Finalize has already been called"};
}

/// Runs body(session) while nobody can close it.
template <typename Body>
int with_session(const Body& body) noexcept {
  return guarded([&] {
    Shared& s = shared();
    const std::shared_lock lock(s.mutex);
    if (s.session == nullptr) {
      require_mpi();
      throw Refusal{PAT_ERR_NOT_OPEN, "PAT_Init has not been called, or PAT_Finalize already has"};
    }
    body(*s.session);
  });
}

/// What was called by name must be known.
void require_algorithm(Operation operation, const char* name, int ranks) {
  if (name == nullptr) throw Refusal{PAT_ERR_ALGORITHM, "the algorithm's name is a null pointer"};
  try {
    (void)choose(operation, name, ranks, 0, false);
  } catch (const std::invalid_argument& e) {
    throw Refusal{PAT_ERR_ALGORITHM, e.what()};
  }
}

void require_communicator(MPI_Comm comm) {
  const MPI_Comm own = shared().comm;
  if (comm == own) return;
  int result = MPI_UNEQUAL;
  if (comm != MPI_COMM_NULL) check_mpi(MPI_Comm_compare(comm, own, &result), "MPI_Comm_compare");
  if (result != MPI_IDENT && result != MPI_CONGRUENT) {
    throw Refusal{PAT_ERR_ARGUMENT, "the communicator is not the one of PAT_Init"};
  }
}

void require_unbroken() {
  if (const int broken = shared().broken; broken != PAT_SUCCESS) {
    throw Refusal{static_cast<PAT_Error>(broken),
                  std::string("the session broke down in an earlier call: ") + PAT_Error_string(broken)};
  }
}

template <typename Body>
int collective(Operation operation, const char* algorithm, MPI_Comm comm, const Body& body) noexcept {
  return with_session([&](MpiSession& session) {
    require_unbroken();
    require_communicator(comm);
    require_algorithm(operation, algorithm, session.size());
    body(session);
  });
}

void require_request(const PAT_Request* request) {
  if (request == nullptr || *request == PAT_REQUEST_NULL) {
    throw Refusal{PAT_ERR_ARGUMENT, "the request is a null pointer or PAT_REQUEST_NULL"};
  }
}

void end_session() {
  Shared& s = shared();
  const std::unique_lock lock(s.mutex);
  if (s.session == nullptr) throw Refusal{PAT_ERR_NOT_OPEN, "there is no session to end"};
  const std::unique_ptr<MpiSession> session = std::move(s.session);
  s.comm = MPI_COMM_NULL;
  if (s.broken.exchange(PAT_SUCCESS) != PAT_SUCCESS) {
    session->abandon();
  } else {
    session->close();
  }
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else, while messages can still be sent.
int end_with_mpi(MPI_Comm /*self*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  guarded(end_session);  // refused if PAT_Finalize came first
  return MPI_SUCCESS;
}

void end_session_before_mpi() {
  static std::once_flag once;
  std::call_once(once, [] {
    int keyval = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &keyval, nullptr),
              "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "MPI_Comm_set_attr");
    check_mpi(MPI_Comm_free_keyval(&keyval), "MPI_Comm_free_keyval");  // goes with its last attribute
  });
}

std::optional<Operation> operation_before_colon(std::string_view& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view before = name.substr(0, colon);
  name.remove_prefix(colon + 1);
  for (const Operation operation : kPatOperations) {
    if (to_string(operation) == before) return operation;
  }
  throw Refusal{PAT_ERR_ALGORITHM,
                "no operation '" + std::string(before) + "' (known: scatter, gather, bcast, reduce)"};
}

void use_algorithm(MpiSession& session, const char* algorithm) {
  if (algorithm == nullptr) throw Refusal{PAT_ERR_ALGORITHM, "the algorithm's name is a null pointer"};
  std::string_view name = algorithm;
  const std::optional<Operation> only = operation_before_colon(name);
  bool any = false;
  std::string unknown;
  for (const Operation operation : kPatOperations) {
    if (only && *only != operation) continue;
    try {
      session.use_algorithm(operation, name);
      any = true;
    } catch (const std::invalid_argument& e) {
      unknown += (unknown.empty() ? "" : "; ") + std::string(e.what());
    }
  }
  if (!any) throw Refusal{PAT_ERR_ALGORITHM, unknown};
}

}  // namespace

}  // namespace papfft::comm

/// What a PAT_Request points to.
struct PAT_Request_object {
  papfft::comm::PersistentCall call;
};

namespace papfft::comm {

namespace {

/// Makes a request of what make(session) returns.
template <typename Make>
int new_request(Operation operation, const char* algorithm, MPI_Comm comm, PAT_Request* request,
                const Make& make) noexcept {
  return collective(operation, algorithm, comm, [&](MpiSession& session) {
    if (request == nullptr) throw Refusal{PAT_ERR_ARGUMENT, "the place for the request is a null pointer"};
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): collective() catches what this throws
    *request = new PAT_Request_object{make(session)};
  });
}

}  // namespace

}  // namespace papfft::comm

using papfft::comm::MpiSession;
using papfft::comm::Operation;

const char* PAT_Error_string(int error) noexcept {
  switch (error) {
    case PAT_SUCCESS:
      return "no error";
    case PAT_ERR_NOT_OPEN:
      return "no session: PAT_Init has not been called, or PAT_Finalize already has";
    case PAT_ERR_OPEN:
      return "there is a session already";
    case PAT_ERR_NO_MPI:
      return "MPI is not initialised, or has been finalised";
    case PAT_ERR_ARGUMENT:
      return "an argument or setting makes no sense";
    case PAT_ERR_ALGORITHM:
      return "no such algorithm";
    case PAT_ERR_TRANSPORT:
      return "a message could not be sent or received";
    case PAT_ERR_STUCK:
      return "the ranks wait for each other";
    case PAT_ERR_MISMATCH:
      return "the ranks do not agree on a call's arguments";
    case PAT_ERR_MEMORY:
      return "out of memory";
    case PAT_ERR_INTERNAL:
      return "a fault of the library";
    case PAT_ERR_STATE:
      return "a persistent call was started or waited for out of turn";
    default:
      return "not an error code of PAT";
  }
}

const char* PAT_Last_error_message() noexcept { return papfft::comm::last_message().c_str(); }

int PAT_Init() noexcept { return PAT_Init_comm(MPI_COMM_WORLD); }

int PAT_Init_comm(MPI_Comm comm) noexcept { return PAT_Init_root(comm, 0); }

int PAT_Init_root(MPI_Comm comm, int root) noexcept {
  using namespace papfft::comm;
  return guarded([&] {
    require_mpi();
    Shared& s = shared();
    const std::unique_lock lock(s.mutex);
    if (s.session != nullptr)
      throw Refusal{PAT_ERR_OPEN, "the last PAT_Init has not been ended by PAT_Finalize"};
    if (comm == MPI_COMM_NULL) throw Refusal{PAT_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL"};
    int size = 0;
    check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    if (root < 0 || root >= size) {
      throw Refusal{PAT_ERR_ARGUMENT, "no rank " + std::to_string(root) + " among " + std::to_string(size)};
    }
    end_session_before_mpi();
    s.broken = PAT_SUCCESS;
    s.session = std::make_unique<MpiSession>(comm, Options::from_environment(), SessionOptions{.root = root});
    s.comm = comm;
  });
}

int PAT_Finalize() noexcept {
  using namespace papfft::comm;
  return guarded([] {
    require_mpi();
    end_session();
  });
}

int PAT_UseAlg(const char* algorithm) noexcept {
  return papfft::comm::with_session(
      [&](MpiSession& session) { papfft::comm::use_algorithm(session, algorithm); });
}

int PAT_ProcessingStart() noexcept {
  return papfft::comm::with_session([](MpiSession& session) { session.processing_start(); });
}

int PAT_Edge(double fraction) noexcept {
  return papfft::comm::with_session([&](MpiSession& session) {
    // Outside of a processing phase the session ignores edges; a wrong fraction shall be an error there too.
    if (!(fraction > 0 && fraction <= 1)) throw std::invalid_argument("PAT_Edge: a fraction outside (0, 1]");
    session.edge(fraction);
  });
}

int PAT_ProcessingEnd() noexcept {
  return papfft::comm::with_session([](MpiSession& session) { session.processing_end(); });
}

int PAT_Scatter_alg(const char* algorithm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  return papfft::comm::collective(Operation::scatter, algorithm, comm, [&](MpiSession& session) {
    session.scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, algorithm);
  });
}

int PAT_Gather_alg(const char* algorithm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  return papfft::comm::collective(Operation::gather, algorithm, comm, [&](MpiSession& session) {
    session.gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, algorithm);
  });
}

int PAT_Bcast_alg(const char* algorithm, void* buffer, int count, MPI_Datatype datatype, int root,
                  MPI_Comm comm) noexcept {
  return papfft::comm::collective(Operation::bcast, algorithm, comm, [&](MpiSession& session) {
    session.bcast(buffer, count, datatype, root, algorithm);
  });
}

int PAT_Reduce_alg(const char* algorithm, const void* sendbuf, void* recvbuf, int count,
                   MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) noexcept {
  return papfft::comm::collective(Operation::reduce, algorithm, comm, [&](MpiSession& session) {
    session.reduce(sendbuf, recvbuf, count, datatype, op, root, algorithm);
  });
}

int PAT_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  return PAT_Scatter_alg("auto", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PAT_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  return PAT_Gather_alg("auto", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PAT_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) noexcept {
  return PAT_Bcast_alg("auto", buffer, count, datatype, root, comm);
}

int PAT_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
               MPI_Comm comm) noexcept {
  return PAT_Reduce_alg("auto", sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PAT_Scatter_init_alg(const char* algorithm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         PAT_Request* request) noexcept {
  return papfft::comm::new_request(Operation::scatter, algorithm, comm, request, [&](MpiSession& session) {
    return papfft::comm::detail::mpi_scatter_init(session, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                  recvtype, root, algorithm);
  });
}

int PAT_Gather_init_alg(const char* algorithm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                        void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                        PAT_Request* request) noexcept {
  return papfft::comm::new_request(Operation::gather, algorithm, comm, request, [&](MpiSession& session) {
    return papfft::comm::detail::mpi_gather_init(session, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                 recvtype, root, algorithm);
  });
}

int PAT_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, PAT_Request* request) noexcept {
  return PAT_Scatter_init_alg("auto", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                              request);
}

int PAT_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, PAT_Request* request) noexcept {
  return PAT_Gather_init_alg("auto", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                             request);
}

int PAT_Start(PAT_Request* request) noexcept {
  return papfft::comm::with_session([&](MpiSession& /*session*/) {
    papfft::comm::require_unbroken();
    papfft::comm::require_request(request);
    (*request)->call.start();
  });
}

int PAT_Wait(PAT_Request* request) noexcept {
  return papfft::comm::with_session([&](MpiSession& /*session*/) {
    papfft::comm::require_unbroken();
    papfft::comm::require_request(request);
    (*request)->call.wait();
  });
}

int PAT_Request_free(PAT_Request* request) noexcept {
  return papfft::comm::guarded([&] {
    papfft::comm::require_request(request);
    delete std::exchange(*request, PAT_REQUEST_NULL);
  });
}
