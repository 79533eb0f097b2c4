// SPDX-License-Identifier: MIT
#include "comm/mpi/host_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::comm {

namespace {

/// An open file; -1: none.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// @return nullptr where that fails
std::shared_ptr<void> map(const File& file, std::size_t bytes) {
  if (file.number() < 0) return nullptr;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) return nullptr;
  return {at, [bytes](void* memory) { munmap(memory, bytes); }};
}

/// What says which file, and that it is this one: elsewhere another process may have this number.
struct Ticket {
  std::int64_t process = 0;
  std::int64_t file = -1;
  std::uint64_t sign = 0;
};

}  // namespace

std::shared_ptr<void> share_memory(MPI_Comm host, std::size_t bytes,
                                   const std::function<void(void*)>& prepare) {
  int rank = 0;
  PAPFFT_MPI(MPI_Comm_rank, host, &rank);
  const std::size_t with_sign = bytes + sizeof(std::uint64_t);
  const File made(rank == 0 ? memfd_create("papfft", MFD_CLOEXEC) : -1);
  std::shared_ptr<void> memory;
  Ticket ticket;
  if (rank == 0 && made.number() >= 0 && ftruncate(made.number(), static_cast<off_t>(with_sign)) == 0) {
    memory = map(made, with_sign);
  }
  if (memory != nullptr) {
    ticket = {getpid(), made.number(),
              (std::uint64_t{std::random_device{}()} << 32U) + std::random_device{}()};
    prepare(memory.get());
    std::memcpy(static_cast<std::byte*>(memory.get()) + bytes, &ticket.sign, sizeof ticket.sign);
  }
  PAPFFT_MPI(MPI_Bcast, &ticket, sizeof ticket, MPI_BYTE, 0, host);
  if (rank != 0 && ticket.file >= 0) {
    const std::string path = "/proc/" + std::to_string(ticket.process) + "/fd/" + std::to_string(ticket.file);
    memory = map(File(open(path.c_str(), O_RDWR | O_CLOEXEC)), with_sign);
    const bool is_it = memory != nullptr && std::memcmp(static_cast<std::byte*>(memory.get()) + bytes,
                                                        &ticket.sign, sizeof ticket.sign) == 0;
    if (!is_it) memory = nullptr;
  }
  int mapped = memory != nullptr ? 1 : 0;
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, &mapped, 1, MPI_INT, MPI_MIN, host);
  return mapped == 1 ? memory : nullptr;
}

}  // namespace papfft::comm
