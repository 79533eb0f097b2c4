// SPDX-License-Identifier: MIT
// What "auto" learns from the links of a machine while a program runs, with ranks as threads.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "comm/engine/call_engine.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "tests/support/forwarding_transport.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

/// Ranks that have a core each, whatever the machine has.
class Roomy final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  [[nodiscard]] int cores_on_host() const override { return size(); }
  [[nodiscard]] bool is_any_crowded() const override { return false; }
};

/// A network with so much latency that few rounds are better than short messages, which the rules do not know.
constexpr const char* kLatency =
    "papfft-decisions 1\nlink between alpha_ns=1000 beta_ns_per_byte=10 latency_ns=10000000\n";

class WithSimulatedTable : public Collectives {
 public:
  WithSimulatedTable(Transport& transport, const std::string& table, const Options& options = quick())
      : Collectives(transport, options) {
    use_decisions(table, false);
  }
};

/// Checked allreduces of 1 MB. @return who chose, and what, in the last one
std::string last_of(Collectives& comm, int calls) {
  constexpr std::size_t kElements = 262'144;
  const auto ranks = static_cast<std::uint32_t>(comm.size());
  const std::vector<std::uint32_t> mine(kElements, static_cast<std::uint32_t>(comm.rank()));
  std::vector<std::uint32_t> sum(kElements);
  for (int i = 0; i < calls; ++i) comm.allreduce<std::uint32_t>(mine, sum, std::plus<>{});
  EXPECT_EQ(sum, std::vector<std::uint32_t>(kElements, ranks * (ranks - 1) / 2));
  return std::string(comm.last_call().reason) + ": " + std::string(comm.last_call().algorithm);
}

const std::vector<int> kFourHosts = {0, 1, 2, 3};

TEST(SimulatedWays, TakeThePlaceOfTheRulesOnceTheCallsHaveTakenLongEnough) {
  ThreadGroup(4, 0, kFourHosts).run([](Transport& transport) {
    Roomy roomy(transport);
    WithSimulatedTable comm(roomy, kLatency);
    EXPECT_EQ(last_of(comm, 1), "the rules: circulant");
    std::string later;
    for (int i = 0; i < 40 && !later.starts_with("a simulation"); ++i) later = last_of(comm, 20);
    EXPECT_EQ(later, "a simulation: recursive-doubling");
    expect_same_everywhere(comm, later);
    std::vector<int> data(10);
    comm.bcast<int>(data, 0);
    EXPECT_EQ(comm.last_call().reason, "the rules") << "short calls are not worth a simulation";
  });
}

TEST(SimulatedWays, AreLeftAloneWhereTheSimulatorKnowsTooLittle) {
  const auto stays_with_rules = [](Transport& transport, const std::string& table, const Options& options) {
    WithSimulatedTable comm(transport, table, options);
    EXPECT_EQ(last_of(comm, 20).substr(0, 9), "the rules");
  };
  ThreadGroup(4, 0, kFourHosts).run([&](Transport& transport) {
    Roomy roomy(transport);
    stays_with_rules(roomy, "papfft-decisions 1\nlink inside alpha_ns=1 beta_ns_per_byte=1\n", quick());
    Options fixed = quick();
    fixed.learn_link = false;
    stays_with_rules(roomy, kLatency, fixed);
  });
}

}  // namespace
}  // namespace papfft::comm
