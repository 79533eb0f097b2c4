// SPDX-License-Identifier: MIT
// A gather in the order in which the ranks are expected, in C++.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <papfft/mpi.hpp>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    papfft::comm::MpiSession session(MPI_COMM_WORLD);
    const std::chrono::milliseconds half_of_the_work(1 + session.rank() % 3);
    std::vector<int> mine(1000);
    std::vector<int> whole(session.rank() == 0 ? mine.size() * static_cast<std::size_t>(session.size()) : 0);
    for (int iteration = 0; iteration < 20; ++iteration) {
      session.processing_start();
      std::this_thread::sleep_for(half_of_the_work);
      session.edge(0.5);
      std::this_thread::sleep_for(half_of_the_work);
      std::ranges::fill(mine, session.rank() + iteration);
      session.processing_end();
      session.gather<int>(mine, whole, /*root=*/0, "bsls");
    }
    if (session.rank() == 0) {
      std::cout << session.size() << " ranks, last number " << whole.back() << ", planned by arrivals "
                << session.statistics().planned << " of " << session.statistics().calls << " calls\n";
    }
  }  // the session ends before MPI does
  MPI_Finalize();
}
