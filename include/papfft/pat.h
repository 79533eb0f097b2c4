/* SPDX-License-Identifier: MIT */
/* Collectives that know when the processes will come: the C interface, with the names of the papers that describe it
 * (Proficz: Process arrival pattern aware algorithms for acceleration of scatter and gather operations, 2020). C99, C++.
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
 * Every function returns PAT_SUCCESS or one of enum PAT_Error, and PAT_Last_error_message() then says in one line what
 * was wrong. What makes no sense (states, arguments, names) is found before any message, so that the same call on all
 * ranks fails on all of them and may be repeated. After a failed message, a stuck call or a mismatch the session is broken: all
 * later collectives return the same error, and PAT_Finalize ends it without the others; end the job with MPI_Abort.
 *
 * One session per process. PAT_Edge, PAT_Error_string and PAT_Last_error_message may be called by any thread at any time (the others
 * by one thread at a time), also beside a collective. Without MPI_THREAD_MULTIPLE everything works, but nothing runs before a call.
 *
 * MPI_Finalize without PAT_Finalize closes the session. Settings come from the environment (PAPFFT_WAIT, PAPFFT_STUCK_MS,
 * PAPFFT_CHECK ..., see papfft/options.hpp). The library is C++ inside: link with its runtime. */
#ifndef PAPFFT_PAT_H_
#define PAPFFT_PAT_H_

#include <mpi.h>

#include "papfft/export.h"

#ifdef __cplusplus
#define PAT_NOEXCEPT noexcept
extern "C" {
#else
#define PAT_NOEXCEPT
#endif

enum PAT_Error {
  PAT_SUCCESS = 0,
  PAT_ERR_NOT_OPEN = 1,  /* before PAT_Init, or after PAT_Finalize */
  PAT_ERR_OPEN = 2,      /* PAT_Init, and the last one has not been ended */
  PAT_ERR_NO_MPI = 3,    /* before MPI_Init, or after MPI_Finalize */
  PAT_ERR_ARGUMENT = 4,  /* a count, root, fraction, communicator or setting makes no sense */
  PAT_ERR_ALGORITHM = 5, /* no such algorithm; the message lists those known */
  PAT_ERR_TRANSPORT = 6, /* a message could not be sent or received */
  PAT_ERR_STUCK = 7,     /* no progress for PAPFFT_STUCK_MS; the message says who waits for whom */
  PAT_ERR_MISMATCH = 8,  /* the ranks do not agree on a call's arguments (found with PAPFFT_CHECK=1) */
  PAT_ERR_MEMORY = 9,    /* out of memory; breaks the session */
  PAT_ERR_INTERNAL = 10, /* a fault of this library; breaks the session */
  PAT_ERR_STATE = 11     /* a persistent call out of turn; the message says what should have come first */
};

/* What a code means, in general. */
PAPFFT_API const char* PAT_Error_string(int error) PAT_NOEXCEPT;
/* What went wrong in this thread's last call that failed; "" if none has. Valid until its next failing call. */
PAPFFT_API const char* PAT_Last_error_message(void) PAT_NOEXCEPT;

/* Opens the session on MPI_COMM_WORLD, with root 0. Collective. A session may follow another that was ended. */
PAPFFT_API int PAT_Init(void) PAT_NOEXCEPT;
/* On any intracommunicator, of which a duplicate is used; root 0. */
PAPFFT_API int PAT_Init_comm(MPI_Comm comm) PAT_NOEXCEPT;
/* `root` is the one root whose calls are planned by arrival times; calls with another root are served without. */
PAPFFT_API int PAT_Init_root(MPI_Comm comm, int root) PAT_NOEXCEPT;
/* Ends the session. Collective. */
PAPFFT_API int PAT_Finalize(void) PAT_NOEXCEPT;

/* What calls without a name use from now on; the same on all ranks. "gather:bsls" is for one operation, "bsls" for all that
 * know it. Names: those of `papfft algorithms`, one with a `b` before it (in the background), "auto" (as at the beginning)
 * and "mpi" (MPI's own). */
PAPFFT_API int PAT_UseAlg(const char* algorithm) PAT_NOEXCEPT;

PAPFFT_API int PAT_ProcessingStart(void) PAT_NOEXCEPT;
/* So much of this iteration's processing is done: 0 < fraction <= 1. Any thread, any number of times. */
PAPFFT_API int PAT_Edge(double fraction) PAT_NOEXCEPT;
PAPFFT_API int PAT_ProcessingEnd(void) PAT_NOEXCEPT;

/* MPI's operations, with MPI's arguments and meaning: MPI_IN_PLACE, derived datatypes. `comm` is that of PAT_Init (or has the
 * same ranks in the same order). */
PAPFFT_API int PAT_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Bcast(void* buffer, int count, MPI_Datatype datatype, int root,
                         MPI_Comm comm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          int root, MPI_Comm comm) PAT_NOEXCEPT;

/* The same by a named algorithm ("bsls", without an operation), whatever PAT_UseAlg said. */
PAPFFT_API int PAT_Scatter_alg(const char* algorithm, const void* sendbuf, int sendcount,
                               MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                               int root, MPI_Comm comm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Gather_alg(const char* algorithm, const void* sendbuf, int sendcount,
                              MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                              int root, MPI_Comm comm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Bcast_alg(const char* algorithm, void* buffer, int count, MPI_Datatype datatype, int root,
                             MPI_Comm comm) PAT_NOEXCEPT;
PAPFFT_API int PAT_Reduce_alg(const char* algorithm, const void* sendbuf, void* recvbuf, int count,
                              MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) PAT_NOEXCEPT;

/* A scatter or gather whose arguments are given once, as MPI-4's persistent collectives. From PAT_Start to PAT_Wait the
 * receive buffer belongs to the library, so that what comes early lands there at once; PAT_Wait says that the caller has
 * come and the send buffer is ready, and returns with the result:
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
 * All ranks start and wait alike, with no other PAT collective in between. Datatypes must be without gaps; MPI_IN_PLACE is
 * as ever. Making and freeing are local. A request that has been started is dropped by freeing it, on all ranks or none;
 * after PAT_Finalize it can only be freed. */
typedef struct PAT_Request_object* PAT_Request;
#define PAT_REQUEST_NULL ((PAT_Request)0)

PAPFFT_API int PAT_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                PAT_Request* request) PAT_NOEXCEPT;
PAPFFT_API int PAT_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                               PAT_Request* request) PAT_NOEXCEPT;
PAPFFT_API int PAT_Scatter_init_alg(const char* algorithm, const void* sendbuf, int sendcount,
                                    MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                    MPI_Datatype recvtype, int root, MPI_Comm comm,
                                    PAT_Request* request) PAT_NOEXCEPT;
PAPFFT_API int PAT_Gather_init_alg(const char* algorithm, const void* sendbuf, int sendcount,
                                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                   int root, MPI_Comm comm, PAT_Request* request) PAT_NOEXCEPT;
/* Never waits. */
PAPFFT_API int PAT_Start(PAT_Request* request) PAT_NOEXCEPT;
PAPFFT_API int PAT_Wait(PAT_Request* request) PAT_NOEXCEPT;
/* Leaves PAT_REQUEST_NULL there. Freeing PAT_REQUEST_NULL is an error. */
PAPFFT_API int PAT_Request_free(PAT_Request* request) PAT_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* The papers use one name for two things, and so it is here: PAT_Gather_BSLS(sendbuf, ...) is the operation by that
 * algorithm (a macro, expanded only before a parenthesis), and PAT_Gather_BSLS alone is its name, for PAT_UseAlg. */
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
