// SPDX-License-Identifier: MIT
// The root deals out work, the ranks compute for different times, and the root gathers the results in the order in which the
// ranks are expected.
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
    constexpr int kNumbers = 100000;  // of each rank: more than an eager message
    const std::chrono::milliseconds half_of_the_work(5 * (1 + session.rank() % 3));
    std::vector<int> mine(kNumbers);
    std::vector<int> whole(session.rank() == 0 ? mine.size() * static_cast<std::size_t>(session.size()) : 0);
    for (int iteration = 0; iteration < 20; ++iteration) {
      std::ranges::fill(whole, iteration);
      MPI_Scatter(whole.data(), kNumbers, MPI_INT, mine.data(), kNumbers, MPI_INT, 0, MPI_COMM_WORLD);
      session.processing_start();
      std::this_thread::sleep_for(half_of_the_work);
      session.edge(0.5);
      std::this_thread::sleep_for(half_of_the_work);
      for (int& number : mine) number += session.rank();
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
