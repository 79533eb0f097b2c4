/* SPDX-License-Identifier: MIT */
/* Preloaded into one rank: the FAULT_AT-th call of a kind fails, and FAULT_TIMES - 1 after it.
 *   FAULT_CALL   write    a write to a file below FAULT_FOLDER
 *                sync     an fsync of such a file
 *                name     a file below FAULT_FOLDER gets a name (linkat, rename)
 *                open     a file below FAULT_FOLDER is opened
 *                new      memory for C++ (operator new)
 *                malloc   memory for anybody, the MPI library included
 *                thread   a thread of C++ begins
 *                clock    nothing fails: after FAULT_AT readings FAULT_CLOCK (realtime, monotonic) is FAULT_JUMP_S seconds ahead
 *                log      nothing fails: what is done to files below FAULT_FOLDER goes to the file FAULT_LOG, in lines (power.py reads them):
 *                           "W INODE OFFSET BYTES" and the bytes, "T INODE SIZE", "S INODE" (is on the disk now), "C INODE" (is a new file), "N INODE PATH" (is its
 *                           name now), "R INODE PATH FROM" (instead of that one), "U PATH" (no name any more)
 *   FAULT_ERRNO  the error, a number
 * Nothing fails before main(): what fails there is no program yet. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

extern void* __libc_malloc(size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static const char* kind = "";
static const char* folder = "";
static long first_failing;
static long failing;
static int error_number;
static atomic_long calls;
static atomic_int in_main;
static struct {
  uintptr_t begin, end;
} cpp_code[2]; /* of the program, which may have an operator new of its own, and of libstdc++ */

static int fails(const char* what) {
  if (!in_main || strcmp(what, kind) != 0) return 0;
  const long call = ++calls;
  return call >= first_failing && call < first_failing + failing;
}

static int is_from_cpp(const void* caller) {
  for (int i = 0; i < 2; ++i) {
    if ((uintptr_t)caller >= cpp_code[i].begin && (uintptr_t)caller < cpp_code[i].end) return 1;
  }
  return 0;
}

static int find_cpp(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  const int is_program = *info->dlpi_name == '\0' && cpp_code[0].end == 0; /* it comes first */
  if (!is_program && strstr(info->dlpi_name, "libstdc++") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
    cpp_code[is_program ? 0 : 1].begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    cpp_code[is_program ? 0 : 1].end = cpp_code[is_program ? 0 : 1].begin + info->dlpi_phdr[i].p_memsz;
  }
  return 0;
}

static long number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == NULL ? otherwise : atol(text);
}

/* ISO C has no cast from dlsym's answer to a function. */
static void find_next(void* function, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

static int log_fd = -1;

static clockid_t jumping_clock = CLOCK_REALTIME;
static time_t jump_s;

static int (*program)(int, char**, char**);

static int armed_main(int argc, char** argv, char** variables) {
  if (getenv("FAULT_CALL") != NULL) kind = getenv("FAULT_CALL");
  if (getenv("FAULT_FOLDER") != NULL) folder = getenv("FAULT_FOLDER");
  first_failing = number("FAULT_AT", 1);
  failing = number("FAULT_TIMES", 1);
  error_number = (int)number("FAULT_ERRNO", EIO);
  if (getenv("FAULT_CLOCK") != NULL && strcmp(getenv("FAULT_CLOCK"), "monotonic") == 0)
    jumping_clock = CLOCK_MONOTONIC;
  if (strcmp(kind, "clock") == 0) failing = LONG_MAX - first_failing;
  jump_s = number("FAULT_JUMP_S", 0);
  if (strcmp(kind, "log") == 0 && getenv("FAULT_LOG") != NULL)
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULT_LOG"),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  dl_iterate_phdr(find_cpp, NULL);
  in_main = 1;
  return program(argc, argv, variables);
}

int __libc_start_main(int (*real_main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  __typeof__(&__libc_start_main) next;
  find_next(&next, "__libc_start_main");
  program = real_main;
  return next(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Memory. */

void* malloc(size_t bytes) {
  if (in_main && ((is_from_cpp(__builtin_return_address(0)) && fails("new")) || fails("malloc"))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  if (in_main && ((is_from_cpp(__builtin_return_address(0)) && fails("new")) || fails("malloc"))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_memalign(alignment, bytes);
}

/* Files. */

static int is_ours(const char* path) { return *folder != '\0' && strncmp(path, folder, strlen(folder)) == 0; }

static int is_our_file(int fd) {
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return is_ours(path);
}

/* One line and maybe bytes, at once: threads may be at work. */
static void note(const char* line, const void* bytes, size_t count) {
  struct iovec parts[2] = {{(void*)line, strlen(line)}, {(void*)bytes, count}};
  if (syscall(SYS_writev, log_fd, parts, 2) < 0) abort();
}

static unsigned long inode_of(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

static void note_name(const char* path, const char* from) {
  char line[2 * PATH_MAX];
  struct stat status;
  if (log_fd < 0 || !is_ours(path) || stat(path, &status) != 0) return;
  if (from == NULL) snprintf(line, sizeof line, "N %lu %s\n", (unsigned long)status.st_ino, path);
  if (from != NULL) snprintf(line, sizeof line, "R %lu %s %s\n", (unsigned long)status.st_ino, path, from);
  note(line, NULL, 0);
}

static void note_number(const char* what, int fd, off_t size) {
  char line[100];
  if (log_fd < 0 || !is_our_file(fd)) return;
  snprintf(line, sizeof line, "%s %lu %ld\n", what, inode_of(fd), (long)size);
  note(line, NULL, 0);
}

static void note_write(int fd, const void* bytes, ssize_t count, off_t offset) {
  char line[100];
  if (log_fd < 0 || count <= 0 || !is_our_file(fd)) return;
  snprintf(line, sizeof line, "W %lu %ld %ld\n", inode_of(fd), (long)offset, (long)count);
  note(line, bytes, (size_t)count);
}

#define FAIL(value)       \
  do {                    \
    errno = error_number; \
    return value;         \
  } while (0)

ssize_t write(int fd, const void* bytes, size_t count) {
  static ssize_t (*next)(int, const void*, size_t);
  if (next == NULL) find_next(&next, "write");
  if (strcmp(kind, "write") == 0 && is_our_file(fd) && fails("write")) FAIL(-1);
  const off_t offset = log_fd < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
  const ssize_t written = next(fd, bytes, count);
  note_write(fd, bytes, written, offset);
  return written;
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  static ssize_t (*next)(int, const void*, size_t, off_t);
  if (next == NULL) find_next(&next, "pwrite");
  if (strcmp(kind, "write") == 0 && is_our_file(fd) && fails("write")) FAIL(-1);
  const ssize_t written = next(fd, bytes, count, offset);
  note_write(fd, bytes, written, offset);
  return written;
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) {
  return pwrite(fd, bytes, count, offset);
}

int fsync(int fd) {
  static int (*next)(int);
  if (next == NULL) find_next(&next, "fsync");
  if (strcmp(kind, "sync") == 0 && is_our_file(fd) && fails("sync")) FAIL(-1);
  const int result = next(fd);
  if (result == 0) note_number("S", fd, 0);
  return result;
}

int ftruncate(int fd, off_t size) {
  static int (*next)(int, off_t);
  if (next == NULL) find_next(&next, "ftruncate");
  const int result = next(fd, size);
  if (result == 0) note_number("T", fd, size);
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int unlink(const char* path) {
  static int (*next)(const char*);
  if (next == NULL) find_next(&next, "unlink");
  const int result = next(path);
  char line[2 * PATH_MAX];
  snprintf(line, sizeof line, "U %s\n", path);
  if (result == 0 && log_fd >= 0 && is_ours(path)) note(line, NULL, 0);
  return result;
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  static int (*next)(int, const char*, int, const char*, int);
  if (next == NULL) find_next(&next, "linkat");
  if (is_ours(to) && fails("name")) FAIL(-1);
  const int result = next(from_folder, from, to_folder, to, flags);
  if (result == 0) note_name(to, NULL);
  return result;
}

int rename(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  if (next == NULL) find_next(&next, "rename");
  if (is_ours(to) && fails("name")) FAIL(-1);
  const int result = next(from, to);
  if (result == 0) note_name(to, from);
  return result;
}

int open(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (next == NULL) find_next(&next, "open");
  if (is_ours(path) && fails("open")) FAIL(-1);
  const int fd = next(path, flags, mode);
  struct stat status;
  const int may_be_new = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  if (fd >= 0 && may_be_new && fstat(fd, &status) == 0 && status.st_size == 0) note_number("C", fd, 0);
  if (fd >= 0 && (flags & O_CREAT) != 0) note_name(path, NULL);
  return fd;
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}

/* Threads. */

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (next == NULL) find_next(&next, "pthread_create");
  if (is_from_cpp(__builtin_return_address(0)) && fails("thread")) return EAGAIN;
  return next(thread, attributes, begin, argument);
}

/* Clocks. Who waits until a time of a clock that has jumped waits by the kernel's clock, which has not. */

static atomic_int has_jumped;

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*next)(clockid_t, struct timespec*);
  if (next == NULL) find_next(&next, "clock_gettime");
  const int result = next(clock, now);
  if (clock == jumping_clock && fails("clock")) has_jumped = 1;
  if (clock == jumping_clock && has_jumped) now->tv_sec += jump_s;
  return result;
}

int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec t;
  const int result = clock_gettime(CLOCK_REALTIME, &t);
  now->tv_sec = t.tv_sec;
  now->tv_usec = t.tv_nsec / 1000;
  return result;
}

static struct timespec by_kernel(clockid_t clock, const struct timespec* until) {
  struct timespec result = *until;
  if (clock == jumping_clock && has_jumped) result.tv_sec -= jump_s;
  return result;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  static int (*next)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  if (next == NULL) find_next(&next, "pthread_cond_clockwait");
  const struct timespec kernels = by_kernel(clock, until);
  return next(condition, mutex, clock, &kernels);
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* until) {
  static int (*next)(sem_t*, clockid_t, const struct timespec*);
  if (next == NULL) find_next(&next, "sem_clockwait");
  const struct timespec kernels = by_kernel(clock, until);
  return next(semaphore, clock, &kernels);
}
