// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

/// The profile by which `auto` decides where no other was measured: 8 hosts with 1 Gb/s Ethernet and Open MPI 4.1.4, one or four ranks on
/// each, and what the simulator says of larger groups. Sizes are bytes of a block (per-rank operations) or of the vector.
/// `as_on_usual_link` translates the sizes of calls on another link into these. A table of `papfft tune --collectives` replaces them all.
namespace papfft::comm {

/// Below this a block costs latency rather than bandwidth, and a tree's fewer rounds win.
inline constexpr std::size_t kSmallBlockBytes = 2048;
inline constexpr std::size_t kSmallVectorBytes = 8192;
/// Between these a reduction takes the least time by rxk, simulated with ranks together and late, on 8 to 256 hosts with 1 and 10 Gb/s.
inline constexpr std::size_t kRadixFromBytes = 4096;
inline constexpr std::size_t kRadixToBytes = 65536;
inline constexpr int kFewRanks = 16;    // that a root can serve one by one as fast
inline constexpr int kManyLeaves = 64;  // of a gather; fewer send short blocks straight to the root as fast
/// What was measured holds for groups that could be measured. Among more ranks than these, or leaders, the model alone speaks.
inline constexpr int kMeasuredRanks = 256;
/// Of the vector, from here on lanes take less time than leaders among more hosts than were measured.
inline constexpr std::size_t kLanesAmongManyBytes = 262144;
inline constexpr std::size_t kLanesAmongManyReduceBytes = 1048576;
/// From here on our own algorithms were faster than Open MPI's, with a host for each rank.
inline constexpr std::size_t kOwnBcastBytes = 49152;
inline constexpr std::size_t kOwnReduceBytes = 131072;
inline constexpr std::size_t kOwnBlockBytes = 131072;
inline constexpr std::size_t kOwnGatherBytes = 1024;
/// From here on the root had better have each block of a gather as a message of its own than those of a host as one.
inline constexpr std::size_t kFlatGatherBytes = 8192;
inline constexpr std::size_t kOwnAllgatherBytes = 90112;
inline constexpr std::size_t kOwnPairBytes = 49152;
inline constexpr std::size_t kOwnAllreduceBytes = 524288;
/// Between these our own are faster on 48 hosts as well: few messages, where stock MPI sends each block by itself. The link that a job learns there makes 1 KB
/// 216 bytes of the usual one.
inline constexpr std::size_t kManyPairsFromBytes = 64;
inline constexpr std::size_t kManyPairsToBytes = 1024;
/// The same inside one host whose ranks share memory.
inline constexpr std::size_t kOwnPipedBytes = 131072;
/// From here on the algorithm that keeps to one neighbour each way is faster than the one with fewer rounds.
inline constexpr std::size_t kRingBytesPerRank = 65536;
/// From here on the compositions are faster, on hosts of four ranks.
inline constexpr std::size_t kLevelsVectorBytes = 262144;
inline constexpr std::size_t kLevelsReduceBytes = 196608;
inline constexpr std::size_t kLevelsAllreduceBytes = 3145728;
/// Of an allreduce's vector, for each host: what is shorter makes the messages of lanes too short.
inline constexpr std::size_t kLanesBytesPerHost = 393216;
inline constexpr std::size_t kLevelsBlockBytes = 32768;
/// Below this a block between two hosts costs more as a message of its own than passing through both leaders: simulated on 8 hosts of
/// 4 ranks at 1 Gb/s, pairwise takes 1.8 times as long as pairwise@hosts with 1 KB, 1.07 times with 8 KB, 0.99 times with 32 KB.
inline constexpr std::size_t kOneMessagePerHostBytes = 16384;
/// Where leaders pass segments on and ranks share cores, a message costs more than a network's model says.
inline constexpr std::size_t kLevelsSegmentBytes = 262144;

}  // namespace papfft::comm
