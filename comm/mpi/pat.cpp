// SPDX-License-Identifier: MIT
// The C interface. What is done with a session stands once; the functions are made from the list in papfft/mpi_lists.h, each in four
// variants: by the papers' one session or by a handle, by the usual algorithm or by a named one.
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
#include <variant>

#include "comm/choose/select.hpp"
#include "comm/mpi/mpi_lifetime.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

namespace {

/// A session, the papers' one or one of those that have handles. It lives until the last of its requests has been freed.
struct State {
  State(MPI_Comm comm_in, int root)
      : session(comm_in, Options::from_environment(), SessionOptions{.root = root}), comm(comm_in) {}

  MpiSession session;
  MPI_Comm comm;  // the caller's
  std::atomic<bool> is_open{true};
  std::atomic<int> broken{PAT_SUCCESS};
  std::atomic<int> under_way{0};  // calls that were started and not waited for
};

}  // namespace

}  // namespace papfft::comm

/// What a PAT_Session points to.
struct PAT_Session_object {
  std::shared_ptr<papfft::comm::State> state;
};

/// What a PAT_Request points to.
struct PAT_Request_object {
  std::shared_ptr<papfft::comm::State> state;
  std::variant<papfft::comm::PersistentCall, papfft::comm::Pending> call;
};

namespace papfft::comm {

namespace {

using StatePointer = std::shared_ptr<State>;

/// A call that is refused before anything happened.
struct Refusal {
  PAT_Error error;
  std::string message;
};

/// The papers' session.
struct One {
  std::shared_mutex mutex;  // held exclusively to open and close, shared by all other calls
  StatePointer state;
};

/// Never destroyed: a process that ends by exit() would else wait in a destructor for ranks that do not come.
One& one() {
  static auto* const session = new One;
  return *session;
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

/// The session is of no use any more: whatever comes next ends it without the others.
int breaks(State* state, PAT_Error error, const char* message) noexcept {
  if (state != nullptr) {
    state->broken = error;
    state->session.abandon();
  }
  return failed(error, message);
}

/// Runs `body`, and makes of each exception its error code. @param state  what breaks by some of them, or nullptr
template <typename Body>
int guarded(State* state, const Body& body) noexcept {
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
    return breaks(state, PAT_ERR_TRANSPORT, e.what());
  } catch (const StuckError& e) {
    return breaks(state, PAT_ERR_STUCK, e.what());
  } catch (const MismatchError& e) {
    return breaks(state, PAT_ERR_MISMATCH, e.what());
  } catch (const std::bad_alloc&) {
    return breaks(state, PAT_ERR_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return breaks(state, PAT_ERR_INTERNAL, e.what());
  } catch (...) {
    return breaks(state, PAT_ERR_INTERNAL, "an exception of unknown type");
  }
}

void refuse_without_mpi() {
  try {
    require_mpi();
  } catch (const StateError& e) {
    throw Refusal{PAT_ERR_NO_MPI, e.what()};
  }
}

/// Runs body(session) unless it has been closed.
template <typename Body>
int with_state(State& state, const Body& body) noexcept {
  return guarded(&state, [&] {
    if (mpi_has_ended()) refuse_without_mpi();
    if (!state.is_open) throw Refusal{PAT_ERR_NOT_OPEN, "the session has been closed"};
    body(state.session);
  });
}

/// Runs use(state) with the papers' session, while nobody can close it. @return what that returns
template <typename Use>
int with_one(const Use& use) noexcept {
  One& s = one();
  const std::shared_lock lock(s.mutex);
  if (s.state != nullptr) return use(s.state);
  return guarded(nullptr, [] {
    refuse_without_mpi();
    throw Refusal{PAT_ERR_NOT_OPEN, "PAT_Init has not been called, or PAT_Finalize already has"};
  });
}

/// The same with a handle's.
template <typename Use>
int with_handle(PAT_Session session, const Use& use) noexcept {
  if (session != PAT_SESSION_NULL) return use(session->state);
  return guarded(nullptr, [] {
    refuse_without_mpi();
    throw Refusal{PAT_ERR_NOT_OPEN, "the session is PAT_SESSION_NULL"};
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

void require_communicator(MPI_Comm comm, MPI_Comm own) {
  if (comm == own) return;
  int result = MPI_UNEQUAL;
  if (comm != MPI_COMM_NULL) PAPFFT_MPI(MPI_Comm_compare, comm, own, &result);
  if (result != MPI_IDENT && result != MPI_CONGRUENT) {
    throw Refusal{PAT_ERR_ARGUMENT, "the communicator is not the one of PAT_Init"};
  }
}

void require_unbroken(const State& state) {
  if (const int broken = state.broken; broken != PAT_SUCCESS) {
    throw Refusal{static_cast<PAT_Error>(broken),
                  std::string("the session broke down in an earlier call: ") + PAT_Error_string(broken)};
  }
}

/// @param comm  what the caller says the session is on; nothing: it says so by a handle
template <typename Body>
int collective(State& state, Operation operation, const char* algorithm, std::optional<MPI_Comm> comm,
               const Body& body) noexcept {
  return with_state(state, [&](MpiSession& session) {
    require_unbroken(state);
    if (comm) require_communicator(*comm, state.comm);
    require_algorithm(operation, algorithm, session.size());
    body(session);
  });
}

/// Makes a request of what make(session) returns, a PersistentCall or a Pending.
template <typename Make>
int new_request(const StatePointer& state, Operation operation, const char* algorithm,
                std::optional<MPI_Comm> comm, PAT_Request* request, const Make& make) noexcept {
  return collective(*state, operation, algorithm, comm, [&](MpiSession& session) {
    if (request == nullptr) throw Refusal{PAT_ERR_ARGUMENT, "the place for the request is a null pointer"};
    auto made = std::make_unique<PAT_Request_object>(PAT_Request_object{state, make(session)});
    if (std::holds_alternative<Pending>(made->call)) ++state->under_way;
    *request = made.release();
  });
}

PAT_Request_object& require_request(const PAT_Request* request) {
  if (request == nullptr || *request == PAT_REQUEST_NULL) {
    throw Refusal{PAT_ERR_ARGUMENT, "the request is a null pointer or PAT_REQUEST_NULL"};
  }
  return **request;
}

/// The state of a request that may be none; nullptr then, which the caller refuses by require_request.
State* state_of(const PAT_Request* request) {
  return request == nullptr || *request == PAT_REQUEST_NULL ? nullptr : (*request)->state.get();
}

void free_request(PAT_Request* request) {
  const std::unique_ptr<PAT_Request_object> owned(std::exchange(*request, PAT_REQUEST_NULL));
  if (std::holds_alternative<Pending>(owned->call)) --owned->state->under_way;
}

/// Runs body(request) on a request of a session that is open and not broken.
template <typename Body>
int with_request(PAT_Request* request, const Body& body) noexcept {
  State* const state = state_of(request);
  if (state == nullptr) {
    return guarded(nullptr, [&] { (void)require_request(request); });
  }
  return with_state(*state, [&](MpiSession& /*session*/) {
    require_unbroken(*state);
    body(**request);
  });
}

StatePointer open_state(MPI_Comm comm, int root) {
  refuse_without_mpi();
  if (comm == MPI_COMM_NULL) throw Refusal{PAT_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL"};
  int size = 0;
  PAPFFT_MPI(MPI_Comm_size, comm, &size);
  if (root < 0 || root >= size) {
    throw Refusal{PAT_ERR_ARGUMENT, "no rank " + std::to_string(root) + " among " + std::to_string(size)};
  }
  return std::make_shared<State>(comm, root);
}

/// Collective, unless the session is broken. @throws Refusal  a started call has not been waited for
void close_state(State& state) {
  if (state.broken == PAT_SUCCESS && state.under_way > 0) {
    throw Refusal{PAT_ERR_STATE, "a call that was started has not been waited for"};
  }
  state.is_open = false;
  if (state.broken == PAT_SUCCESS) state.session.close();
}

std::optional<Operation> operation_before_colon(std::string_view& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view before = name.substr(0, colon);
  name.remove_prefix(colon + 1);
  std::string known;
  for (const OperationTraits& row : kOperations) {
    if (row.name == before) return row.operation;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Refusal{PAT_ERR_ALGORITHM, "no operation '" + std::string(before) + "' (known: " + known + ")"};
}

void use_algorithm(MpiSession& session, const char* algorithm) {
  if (algorithm == nullptr) throw Refusal{PAT_ERR_ALGORITHM, "the algorithm's name is a null pointer"};
  std::string_view name = algorithm;
  const std::optional<Operation> only = operation_before_colon(name);
  bool any = false;
  std::string unknown;
  for (const OperationTraits& row : kOperations) {
    if (only && *only != row.operation) continue;
    try {
      session.use_algorithm(row.operation, name);
      any = true;
    } catch (const std::invalid_argument& e) {
      unknown += (unknown.empty() ? "" : "; ") + std::string(e.what());
    }
  }
  if (!any) throw Refusal{PAT_ERR_ALGORITHM, unknown};
}

// What both forms of a function do.

int use_alg(const StatePointer& state, const char* algorithm) noexcept {
  return with_state(*state, [&](MpiSession& session) { use_algorithm(session, algorithm); });
}

int processing_start(const StatePointer& state) noexcept {
  return with_state(*state, [](MpiSession& session) { session.processing_start(); });
}

int edge(const StatePointer& state, double fraction) noexcept {
  return with_state(*state, [&](MpiSession& session) {
    // Outside of a processing phase the session ignores edges; a wrong fraction shall be an error there too.
    if (!(fraction > 0 && fraction <= 1)) throw std::invalid_argument("PAT_Edge: a fraction outside (0, 1]");
    session.edge(fraction);
  });
}

int processing_end(const StatePointer& state) noexcept {
  return with_state(*state, [](MpiSession& session) { session.processing_end(); });
}

int get_statistics(const StatePointer& state, PAT_Statistics* statistics) noexcept {
  return with_state(*state, [&](MpiSession& session) {
    if (statistics == nullptr)
      throw Refusal{PAT_ERR_ARGUMENT, "the place for the statistics is a null pointer"};
    const SessionStatistics s = session.statistics();
    *statistics = {.has_thread = s.has_thread ? 1 : 0,
                   .thread_share = s.thread_share,
                   .calls = s.calls,
                   .planned = s.planned,
                   .begun_early = s.begun_early,
                   .predicted = s.predicted,
                   .mean_error_ns = s.mean_error_ns,
                   .clock_uncertainty_ns = s.clock_uncertainty_ns};
  });
}

}  // namespace

}  // namespace papfft::comm

using namespace papfft::comm;

const char* PAT_Error_string(int error) noexcept {
  static constexpr std::array<const char*, PAT_ERR_STATE + 1> kTexts = {
      "no error",
      "no session: it has not been opened yet, or has been closed",
      "there is a session already",
      "MPI is not initialised, or has been finalised",
      "an argument or setting makes no sense",
      "no such algorithm",
      "a message could not be sent or received",
      "the ranks wait for each other",
      "the ranks do not agree on a call's arguments",
      "out of memory",
      "a fault of the library",
      "a persistent or started call came out of turn"};
  return error >= 0 && error <= PAT_ERR_STATE ? kTexts[static_cast<std::size_t>(error)]
                                              : "not an error code of PAT";
}

const char* PAT_Last_error_message() noexcept { return last_message().c_str(); }

int PAT_Init() noexcept { return PAT_Init_comm(MPI_COMM_WORLD); }

int PAT_Init_comm(MPI_Comm comm) noexcept { return PAT_Init_root(comm, 0); }

int PAT_Init_root(MPI_Comm comm, int root) noexcept {
  return guarded(nullptr, [&] {
    refuse_without_mpi();
    One& s = one();
    const std::unique_lock lock(s.mutex);
    if (s.state != nullptr)
      throw Refusal{PAT_ERR_OPEN, "the last PAT_Init has not been ended by PAT_Finalize"};
    s.state = open_state(comm, root);
  });
}

int PAT_Finalize() noexcept {
  return guarded(nullptr, [] {
    refuse_without_mpi();
    One& s = one();
    const std::unique_lock lock(s.mutex);
    if (s.state == nullptr) throw Refusal{PAT_ERR_NOT_OPEN, "there is no session to end"};
    close_state(*s.state);
    s.state.reset();
  });
}

int PAT_Session_open(MPI_Comm comm, int root, PAT_Session* session) noexcept {
  return guarded(nullptr, [&] {
    if (session == nullptr) throw Refusal{PAT_ERR_ARGUMENT, "the place for the session is a null pointer"};
    auto made = std::make_unique<PAT_Session_object>(PAT_Session_object{open_state(comm, root)});
    *session = made.release();
  });
}

int PAT_Session_close(PAT_Session* session) noexcept {
  return guarded(nullptr, [&] {
    if (session == nullptr || *session == PAT_SESSION_NULL) {
      throw Refusal{PAT_ERR_ARGUMENT, "the session is a null pointer or PAT_SESSION_NULL"};
    }
    State& state = *(*session)->state;
    if (mpi_has_ended()) {
      state.is_open = false;
    } else {
      close_state(state);
    }
    delete std::exchange(*session, PAT_SESSION_NULL);
  });
}

#define PAT_MORE(...) __VA_OPT__(, ) __VA_ARGS__

#define PAT_DEFINE(Name, name, parameters, arguments)                                                      \
  int PAT_##Name parameters noexcept {                                                                     \
    return with_one(                                                                                       \
        [&](const StatePointer& state) { return papfft::comm::name(state PAT_MORE arguments); });          \
  }                                                                                                        \
  int PAT_Session_##name(PAT_Session session PAT_MORE parameters) noexcept {                               \
    return with_handle(                                                                                    \
        session, [&](const StatePointer& state) { return papfft::comm::name(state PAT_MORE arguments); }); \
  }
PAT_DEFINE(UseAlg, use_alg, (const char* algorithm), (algorithm))
PAT_DEFINE(ProcessingStart, processing_start, (), ())
PAT_DEFINE(Edge, edge, (double fraction), (fraction))
PAT_DEFINE(ProcessingEnd, processing_end, (), ())
PAT_DEFINE(Get_statistics, get_statistics, (PAT_Statistics * statistics), (statistics))
#undef PAT_DEFINE

// The four variants of a function. What follows the arguments is what they do with `state`, `comm` and `algorithm`.
#define PAT_DEFINE_FORMS(Name, name, parameters, arguments, request_parameter, request, ...)                \
  int PAT_##Name##_alg(const char* algorithm, PAPFFT_LIST parameters,                                       \
                       MPI_Comm comm PAT_MORE request_parameter) noexcept {                                 \
    return with_one([&](const StatePointer& state) { return __VA_ARGS__; });                                \
  }                                                                                                         \
  int PAT_##Name(PAPFFT_LIST parameters, MPI_Comm comm PAT_MORE request_parameter) noexcept {               \
    return PAT_##Name##_alg("auto", PAPFFT_LIST arguments, comm PAT_MORE request);                          \
  }                                                                                                         \
  int PAT_Session_##name##_alg(PAT_Session session, const char* algorithm,                                  \
                               PAPFFT_LIST parameters PAT_MORE request_parameter) noexcept {                \
    constexpr std::nullopt_t comm = std::nullopt;                                                           \
    return with_handle(session, [&](const StatePointer& state) { return __VA_ARGS__; });                    \
  }                                                                                                         \
  int PAT_Session_##name(PAT_Session session, PAPFFT_LIST parameters PAT_MORE request_parameter) noexcept { \
    return PAT_Session_##name##_alg(session, "auto", PAPFFT_LIST arguments PAT_MORE request);               \
  }

#define PAT_DEFINE(Name, name, operation, parameters, arguments)              \
  PAT_DEFINE_FORMS(                                                           \
      Name, name, parameters, arguments, (), (),                              \
      papfft::comm::collective(*state, Operation::operation, algorithm, comm, \
                               [&](MpiSession& opened) { opened.name(PAPFFT_LIST arguments, algorithm); }))
#define PAT_DEFINE_REQUEST(Name, name, operation, parameters, arguments)                  \
  PAT_DEFINE_FORMS(Name, name, parameters, arguments, (PAT_Request * request), (request), \
                   papfft::comm::new_request(                                             \
                       state, Operation::operation, algorithm, comm, request,             \
                       [&](MpiSession& opened) { return opened.name(PAPFFT_LIST arguments, algorithm); }))
#define PAT_DEFINE_STARTED(Name, name, operation, parameters, arguments) \
  PAT_DEFINE_REQUEST(I##name, i##name, operation, parameters, arguments)
#define PAT_DEFINE_PERSISTENT(Name, name, operation, parameters, arguments) \
  PAT_DEFINE_REQUEST(Name##_init, name##_init, operation, parameters, arguments)
PAPFFT_FOR_EACH_MPI_CALL(PAT_DEFINE)
PAPFFT_FOR_EACH_MPI_CALL(PAT_DEFINE_STARTED)
PAPFFT_FOR_EACH_MPI_CALL(PAT_DEFINE_PERSISTENT)
#undef PAT_DEFINE

int PAT_Start(PAT_Request* request) noexcept {
  return with_request(request, [](PAT_Request_object& object) {
    auto* const call = std::get_if<PersistentCall>(&object.call);
    if (call == nullptr)
      throw Refusal{PAT_ERR_ARGUMENT, "only a persistent call can be started by PAT_Start"};
    call->start();
  });
}

int PAT_Wait(PAT_Request* request) noexcept {
  return with_request(request, [&](PAT_Request_object& object) {
    if (auto* const call = std::get_if<PersistentCall>(&object.call)) return call->wait();
    std::get<Pending>(object.call).wait();
    free_request(request);
  });
}

int PAT_Test(PAT_Request* request, int* done) noexcept {
  return with_request(request, [&](PAT_Request_object& object) {
    auto* const call = std::get_if<Pending>(&object.call);
    if (call == nullptr || done == nullptr) {
      throw Refusal{PAT_ERR_ARGUMENT, "PAT_Test is for started calls, and wants a place for the answer"};
    }
    *done = call->test() ? 1 : 0;
    if (*done != 0) free_request(request);
  });
}

int PAT_Request_free(PAT_Request* request) noexcept {
  return guarded(nullptr, [&] {
    const PAT_Request_object& object = require_request(request);
    const auto* const call = std::get_if<Pending>(&object.call);
    if (call != nullptr && !call->done() && object.state->broken == PAT_SUCCESS && !mpi_has_ended()) {
      throw Refusal{PAT_ERR_STATE, "the call has been started, and must be waited for first"};
    }
    free_request(request);
  });
}
