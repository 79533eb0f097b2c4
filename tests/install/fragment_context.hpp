// SPDX-License-Identifier: MIT
// What the examples in comments and manuals may use beside their own lines: fragments.py puts this before each.
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

struct Context {
  static int count_ranks() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }
  int ranks = count_ranks();
  int iterations = 4;
  std::vector<double> mine = std::vector<double>(1000, 1.0);
  std::vector<double> sum = mine;
  std::vector<double> whole = std::vector<double>(mine.size() * static_cast<std::size_t>(ranks));
  std::vector<double> all = whole;
  std::vector<std::size_t> counts = std::vector<std::size_t>(static_cast<std::size_t>(ranks), mine.size());
  double buffer[100] = {};
  std::vector<double> to_send = std::vector<double>(static_cast<std::size_t>(10 * ranks));
  double* sendbuf = to_send.data();
  double recvbuf[10] = {};
  void first_half() {}
  void second_half() {}
};
