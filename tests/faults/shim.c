/* SPDX-License-Identifier: MIT */
/* Preloaded into one rank: the FAULT_AT-th call of a kind fails, and FAULT_TIMES - 1 after it.
 *   FAULT_CALL   write    a write to a file below FAULT_FOLDER
 *                sync     an fsync of such a file
 *                name     a file below FAULT_FOLDER gets a name (linkat, rename)
 *                open     a file below FAULT_FOLDER is opened
 *                new      memory for C++ (operator new)
 *                malloc   memory for anybody, the MPI library included
 *                thread   a thread of C++ begins
 *   FAULT_ERRNO  the error, a number
 * Nothing fails before main(): what fails there is no program yet. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
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

static int (*program)(int, char**, char**);

static int armed_main(int argc, char** argv, char** variables) {
  if (getenv("FAULT_CALL") != NULL) kind = getenv("FAULT_CALL");
  if (getenv("FAULT_FOLDER") != NULL) folder = getenv("FAULT_FOLDER");
  first_failing = number("FAULT_AT", 1);
  failing = number("FAULT_TIMES", 1);
  error_number = (int)number("FAULT_ERRNO", EIO);
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

#define FAIL(value)       \
  do {                    \
    errno = error_number; \
    return value;         \
  } while (0)

ssize_t write(int fd, const void* bytes, size_t count) {
  static ssize_t (*next)(int, const void*, size_t);
  if (next == NULL) find_next(&next, "write");
  if (strcmp(kind, "write") == 0 && is_our_file(fd) && fails("write")) FAIL(-1);
  return next(fd, bytes, count);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  static ssize_t (*next)(int, const void*, size_t, off_t);
  if (next == NULL) find_next(&next, "pwrite");
  if (strcmp(kind, "write") == 0 && is_our_file(fd) && fails("write")) FAIL(-1);
  return next(fd, bytes, count, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) {
  return pwrite(fd, bytes, count, offset);
}

int fsync(int fd) {
  static int (*next)(int);
  if (next == NULL) find_next(&next, "fsync");
  if (strcmp(kind, "sync") == 0 && is_our_file(fd) && fails("sync")) FAIL(-1);
  return next(fd);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  static int (*next)(int, const char*, int, const char*, int);
  if (next == NULL) find_next(&next, "linkat");
  if (is_ours(to) && fails("name")) FAIL(-1);
  return next(from_folder, from, to_folder, to, flags);
}

int rename(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  if (next == NULL) find_next(&next, "rename");
  if (is_ours(to) && fails("name")) FAIL(-1);
  return next(from, to);
}

int open(const char* path, int flags, ...) {
  static int (*next)(const char*, int, ...);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (next == NULL) find_next(&next, "open");
  if (is_ours(path) && fails("open")) FAIL(-1);
  return next(path, flags, mode);
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
