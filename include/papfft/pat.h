/* SPDX-License-Identifier: MIT */
/* Collectives that know when the processes will arrive: the C interface (C99 and C++). The names are those of the paper that
 * describes it: Proficz, "Process arrival pattern aware algorithms for acceleration of scatter and gather operations",
 * 2020.
 *
 * ```c
 * PAT_Init();                            // after MPI_Init_thread with MPI_THREAD_MULTIPLE
 * PAT_UseAlg(PAT_Gather_BSLS);
 * for (i = 0; i < iterations; ++i) {
 *   PAT_ProcessingStart();
 *   first_half();
 *   PAT_Edge(0.5);                       // half of the work is done
 *   second_half();
 *   PAT_ProcessingEnd();
 *   PAT_Gather(mine, n, MPI_DOUBLE, whole, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
 * }
 * PAT_Finalize();                        // before MPI_Finalize
 * ```
 *
 * Every function returns PAT_SUCCESS or another code of enum PAT_Error. After an error PAT_Last_error_message() says in
 * one line what was wrong. A wrong state, argument or name is found before any message is sent, so the same call fails on
 * all ranks and may be repeated. After a failed message, a stuck call or a mismatch the session is broken: all later
 * collectives return the same error, and PAT_Finalize ends the session without the other ranks. End the job with
 * MPI_Abort then.
 *
 * PAT_Init opens one session for the whole process, as the papers have it. PAT_Session_open opens further sessions on any
 * communicators, any number at a time. Each function that works on the one session has a sibling that takes a PAT_Session.
 *
 * Threads: one at a time per session. Different threads may use different sessions if MPI allows threads
 * (MPI_THREAD_MULTIPLE). Any thread may call PAT_Edge, PAT_Session_edge, PAT_Error_string and PAT_Last_error_message at
 * any time, also beside a collective. Without MPI_THREAD_MULTIPLE everything works, but nothing runs before a call.
 *
 * MPI_Finalize closes the sessions that are still open. Settings come from the environment (PAPFFT_WAIT, PAPFFT_STUCK_MS,
 * PAPFFT_CHECK ..., see papfft/options.hpp). The library is C++ inside: link with its runtime. */
#ifndef PAPFFT_PAT_H_
#define PAPFFT_PAT_H_

#include <mpi.h>
#include <stdint.h>

#include "papfft/export.h"
#include "papfft/mpi_lists.h"

#ifdef __cplusplus
#define PAT_NOEXCEPT noexcept
extern "C" {
#else
#define PAT_NOEXCEPT
#endif

enum PAT_Error {
  PAT_SUCCESS = 0,
  PAT_ERR_NOT_OPEN = 1,  /* before PAT_Init, after PAT_Finalize, or on a session that has been closed */
  PAT_ERR_OPEN = 2,      /* PAT_Init, while a session is open */
  PAT_ERR_NO_MPI = 3,    /* before MPI_Init, or after MPI_Finalize */
  PAT_ERR_ARGUMENT = 4,  /* a count, root, fraction, communicator or setting makes no sense */
  PAT_ERR_ALGORITHM = 5, /* no such algorithm; the message lists those known */
  PAT_ERR_TRANSPORT = 6, /* a message could not be sent or received */
  PAT_ERR_STUCK = 7,     /* no progress for PAPFFT_STUCK_MS; the message says who waits for whom */
  PAT_ERR_MISMATCH = 8,  /* the ranks do not agree on a call's arguments (found with PAPFFT_CHECK=1) */
  PAT_ERR_MEMORY = 9,    /* out of memory; breaks the session */
  PAT_ERR_INTERNAL = 10, /* a fault of this library; breaks the session */
  PAT_ERR_STATE =
      11 /* a persistent or started call out of turn; the message says what should have come first */
};

/* What a code means in general. */
PAPFFT_API const char* PAT_Error_string(int error) PAT_NOEXCEPT;
/* What went wrong in this thread's last failing call; "" if no call has failed. Valid until the thread's next failing call. */
PAPFFT_API const char* PAT_Last_error_message(void) PAT_NOEXCEPT;

/* Opens the session on MPI_COMM_WORLD, with root 0. Collective. A session may follow another that was ended. */
PAPFFT_API int PAT_Init(void) PAT_NOEXCEPT;
/* Opens it on a duplicate of any intracommunicator, with root 0. */
PAPFFT_API int PAT_Init_comm(MPI_Comm comm) PAT_NOEXCEPT;
/* Opens it with another root. Only calls with this root are planned by arrival times. */
PAPFFT_API int PAT_Init_root(MPI_Comm comm, int root) PAT_NOEXCEPT;
/* Ends the session. Collective. */
PAPFFT_API int PAT_Finalize(void) PAT_NOEXCEPT;

/* Opens a further session, any number of times, each on a duplicate of `comm`. Collective over the ranks of `comm`. */
typedef struct PAT_Session_object* PAT_Session;
#define PAT_SESSION_NULL ((PAT_Session)0)
PAPFFT_API int PAT_Session_open(MPI_Comm comm, int root, PAT_Session* session) PAT_NOEXCEPT;
/* Ends the session and sets *session to PAT_SESSION_NULL. Collective, like PAT_Finalize; after MPI_Finalize it only frees the
 * memory. */
PAPFFT_API int PAT_Session_close(PAT_Session* session) PAT_NOEXCEPT;

/* Sets what calls without a name use from now on; the same on all ranks. "gather:bsls" is for one operation, "bsls" for all that
 * know it. Names: those of `papfft algorithms`, the same with a `b` before them (in the background), "auto" (as at the beginning)
 * and "mpi" (MPI's own). */
PAPFFT_API int PAT_UseAlg(const char* algorithm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Session_use_alg(PAT_Session session, const char* algorithm) PAT_NOEXCEPT;

PAPFFT_API int PAT_ProcessingStart(void) PAT_NOEXCEPT;
PAPFFT_API int PAT_Session_processing_start(PAT_Session session) PAT_NOEXCEPT;
/* Says that this fraction of the processing is done: 0 < fraction <= 1. Any thread, any number of times. */
PAPFFT_API int PAT_Edge(double fraction) PAT_NOEXCEPT;
PAPFFT_API int PAT_Session_edge(PAT_Session session, double fraction) PAT_NOEXCEPT;
PAPFFT_API int PAT_ProcessingEnd(void) PAT_NOEXCEPT;
PAPFFT_API int PAT_Session_processing_end(PAT_Session session) PAT_NOEXCEPT;

/* How a session has fared on this rank; see papfft/session.hpp. */
typedef struct PAT_Statistics {
  int has_thread;      /* a background thread is at work */
  double thread_share; /* share of a core's time that the thread has taken */
  int64_t calls;
  int64_t planned;       /* calls whose order followed predicted arrivals */
  int64_t begun_early;   /* calls that began before the caller arrived */
  int64_t predicted;     /* calls before which this rank's arrival was predicted */
  int64_t mean_error_ns; /* mean |predicted - true arrival| of these */
  int64_t clock_uncertainty_ns;
} PAT_Statistics;
PAPFFT_API int PAT_Get_statistics(PAT_Statistics* statistics) PAT_NOEXCEPT;
PAPFFT_API int PAT_Session_get_statistics(PAT_Session session, PAT_Statistics* statistics) PAT_NOEXCEPT;

/* MPI's operations, with MPI's arguments and meaning: MPI_IN_PLACE, derived datatypes. papfft/mpi_lists.h has the list: Scatter, Gather,
 * Bcast, Reduce, Allgather, Allgatherv, Allreduce, Reduce_scatter, Reduce_scatter_block, Alltoall, Alltoallv, Alltoallw, Gatherv and
 * Scatterv. Each operation has a blocking form, a started one and a persistent one:
 *
 *   PAT_Gather(sendbuf, ..., root, comm)                      returns with the result
 *   PAT_Igather(sendbuf, ..., root, comm, &request)           starts a call that goes on beside its caller
 *   PAT_Gather_init(sendbuf, ..., root, comm, &request)       takes the arguments once, like MPI-4's persistent collectives
 *
 * And each of these has four variants:
 *
 *   PAT_Gather(sendbuf, ..., root, comm)                      on the one session
 *   PAT_Gather_alg(algorithm, sendbuf, ..., root, comm)       by a named algorithm ("bsls"), whatever PAT_UseAlg has set
 *   PAT_Session_gather(session, sendbuf, ..., root)           on any session
 *   PAT_Session_gather_alg(session, algorithm, sendbuf, ..., root)
 *
 * `comm` is that of PAT_Init (or has the same ranks in the same order).
 *
 * Started calls: PAT_Wait waits for the end, and PAT_Test asks for it; once the call is done, either sets the request to
 * PAT_REQUEST_NULL. The n-th gather that is started on one rank belongs to the n-th on the others. Started calls of different
 * operations, and all other calls, need no common order. The algorithm "mpi" cannot be started.
 *
 * Persistent calls: from PAT_Start to PAT_Wait the receive buffer belongs to the library, so early data land there at once. Only input
 * that lies there (MPI_IN_PLACE, the root's data of a Bcast) stays the caller's. PAT_Wait says that the caller has arrived and that the
 * send buffer is ready, and returns with the result:
 *
 * ```c
 * PAT_Request gather;
 * PAT_Init();
 * PAT_Gather_init_alg("bsls", mine, n, MPI_DOUBLE, whole, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, &gather);
 * for (i = 0; i < iterations; ++i) {
 *   PAT_Start(&gather);
 *   PAT_ProcessingStart();
 *   first_half();
 *   PAT_Edge(0.5);
 *   second_half();
 *   PAT_ProcessingEnd();
 *   PAT_Wait(&gather);
 * }
 * PAT_Request_free(&gather);
 * PAT_Finalize();
 * ```
 *
 * All ranks start and wait for the same requests, with no other call of the session in between. Making and freeing a request are
 * local. Freeing a started request drops its call: do so on all ranks or on none. After the session's end a request can only be
 * freed.
 *
 * Until a started call is done, and until a persistent one is freed, its buffers, its datatypes and its MPI_Op must live. Data that are not
 * contiguous are copied: then early data reach the caller's buffer when the call is done. */
typedef struct PAT_Request_object* PAT_Request;
#define PAT_REQUEST_NULL ((PAT_Request)0)

#define PAT_DECLARE_(Name, name, operation, parameters, arguments)                              \
  PAPFFT_API int PAT_##Name(PAPFFT_LIST parameters, MPI_Comm comm) PAT_NOEXCEPT;                \
  PAPFFT_API int PAT_##Name##_alg(const char* algorithm, PAPFFT_LIST parameters, MPI_Comm comm) \
      PAT_NOEXCEPT;                                                                             \
  PAPFFT_API int PAT_Session_##name(PAT_Session session, PAPFFT_LIST parameters) PAT_NOEXCEPT;  \
  PAPFFT_API int PAT_Session_##name##_alg(PAT_Session session, const char* algorithm,           \
                                          PAPFFT_LIST parameters) PAT_NOEXCEPT;
#define PAT_DECLARE_REQUEST_(Name, name, parameters)                                                   \
  PAPFFT_API int PAT_##Name(PAPFFT_LIST parameters, MPI_Comm comm, PAT_Request* request) PAT_NOEXCEPT; \
  PAPFFT_API int PAT_##Name##_alg(const char* algorithm, PAPFFT_LIST parameters, MPI_Comm comm,        \
                                  PAT_Request* request) PAT_NOEXCEPT;                                  \
  PAPFFT_API int PAT_Session_##name(PAT_Session session, PAPFFT_LIST parameters, PAT_Request* request) \
      PAT_NOEXCEPT;                                                                                    \
  PAPFFT_API int PAT_Session_##name##_alg(PAT_Session session, const char* algorithm,                  \
                                          PAPFFT_LIST parameters, PAT_Request* request) PAT_NOEXCEPT;
#define PAT_DECLARE_STARTED_(Name, name, operation, parameters, arguments) \
  PAT_DECLARE_REQUEST_(I##name, i##name, parameters)
#define PAT_DECLARE_PERSISTENT_(Name, name, operation, parameters, arguments) \
  PAT_DECLARE_REQUEST_(Name##_init, name##_init, parameters)
PAPFFT_FOR_EACH_MPI_CALL(PAT_DECLARE_)
PAPFFT_FOR_EACH_MPI_CALL(PAT_DECLARE_STARTED_)
PAPFFT_FOR_EACH_MPI_CALL(PAT_DECLARE_PERSISTENT_)
#undef PAT_DECLARE_
#undef PAT_DECLARE_REQUEST_
#undef PAT_DECLARE_STARTED_
#undef PAT_DECLARE_PERSISTENT_

/* Starts a persistent call. Never waits. */
PAPFFT_API int PAT_Start(PAT_Request* request) PAT_NOEXCEPT;
PAPFFT_API int PAT_Wait(PAT_Request* request) PAT_NOEXCEPT;
/* Moves a started call on, and says in *done whether it is done. Never waits. */
PAPFFT_API int PAT_Test(PAT_Request* request, int* done) PAT_NOEXCEPT;
/* Sets *request to PAT_REQUEST_NULL. It is an error to free PAT_REQUEST_NULL, or a started call that nobody has waited for, unless
 * its session is broken. */
PAPFFT_API int PAT_Request_free(PAT_Request* request) PAT_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* The papers use one name for two things, and so does this header: PAT_Gather_BSLS(sendbuf, ...) is the operation by that
 * algorithm (a macro, which is expanded only before a parenthesis), and PAT_Gather_BSLS alone is its name, for PAT_UseAlg. */
static const char PAT_Scatter_LIN[] = "scatter:lin";
static const char PAT_Scatter_BNOM[] = "scatter:bnom";
static const char PAT_Scatter_SLN[] = "scatter:sln";
static const char PAT_Scatter_BSLN[] = "scatter:bsln";
static const char PAT_Scatter_SBN[] = "scatter:sbn";
static const char PAT_Scatter_BSBN[] = "scatter:bsbn";
static const char PAT_Gather_LIN[] = "gather:lin";
static const char PAT_Gather_LS[] = "gather:ls";
static const char PAT_Gather_BNOM[] = "gather:bnom";
static const char PAT_Gather_SLS[] = "gather:sls";
static const char PAT_Gather_BSLS[] = "gather:bsls";
static const char PAT_Gather_SBN[] = "gather:sbn";
static const char PAT_Gather_BSBN[] = "gather:bsbn";
static const char PAT_Bcast_BNOM[] = "bcast:bnom";
static const char PAT_Reduce_BNOM[] = "reduce:bnom";

#define PAT_Scatter_LIN(...) PAT_Scatter_alg("lin", __VA_ARGS__)
#define PAT_Scatter_BNOM(...) PAT_Scatter_alg("bnom", __VA_ARGS__)
#define PAT_Scatter_SLN(...) PAT_Scatter_alg("sln", __VA_ARGS__)
#define PAT_Scatter_BSLN(...) PAT_Scatter_alg("bsln", __VA_ARGS__)
#define PAT_Scatter_SBN(...) PAT_Scatter_alg("sbn", __VA_ARGS__)
#define PAT_Scatter_BSBN(...) PAT_Scatter_alg("bsbn", __VA_ARGS__)
#define PAT_Gather_LIN(...) PAT_Gather_alg("lin", __VA_ARGS__)
#define PAT_Gather_LS(...) PAT_Gather_alg("ls", __VA_ARGS__)
#define PAT_Gather_BNOM(...) PAT_Gather_alg("bnom", __VA_ARGS__)
#define PAT_Gather_SLS(...) PAT_Gather_alg("sls", __VA_ARGS__)
#define PAT_Gather_BSLS(...) PAT_Gather_alg("bsls", __VA_ARGS__)
#define PAT_Gather_SBN(...) PAT_Gather_alg("sbn", __VA_ARGS__)
#define PAT_Gather_BSBN(...) PAT_Gather_alg("bsbn", __VA_ARGS__)
#define PAT_Bcast_BNOM(...) PAT_Bcast_alg("bnom", __VA_ARGS__)
#define PAT_Reduce_BNOM(...) PAT_Reduce_alg("bnom", __VA_ARGS__)

#endif /* PAPFFT_PAT_H_ */
