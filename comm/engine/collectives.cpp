// SPDX-License-Identifier: MIT
#include "papfft/collectives.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/engine/call_engine.hpp"

namespace papfft::comm {

Collectives::Collectives(Transport& transport, const Options& options)
    : engine_(std::make_unique<CallEngine>(transport, options)) {}
Collectives::~Collectives() = default;
Collectives::Collectives(Collectives&&) noexcept = default;

int Collectives::rank() const { return engine_->rank(); }
int Collectives::size() const { return engine_->transport().size(); }
int Collectives::ranks_on_host() const { return engine_->transport().ranks_on_host(); }
const Options& Collectives::options() const { return engine_->options(); }
const CallStatistics& Collectives::last_call() const { return engine_->last(); }
std::vector<GuardedCalls> Collectives::guarded_calls() const { return engine_->guard().statistics(); }
void Collectives::observe(Observer* observer) { engine_->observe(observer); }

void Collectives::call(const CallArguments& arguments) {
  const CallerTimes times{.arrival_ns = engine_->observed_now_ns()};
  engine_->learn_link_for(arguments);
  CallArguments given = engine_->at_home(arguments);
  std::shared_ptr<SteadyCall> steady = engine_->steady(given);
  if (engine_->improve(*steady)) steady = engine_->steady(given);
  if (engine_->guard().begin(*steady->plan)) {
    given.algorithm = "mpi";
    steady = engine_->steady(given);
  }
  const PlannedCall& plan = *steady->plan;
  if (options().check_arguments) engine_->require_agreement(plan.signature, given.reducer);
  if (plan.is_stock()) {
    given.algorithm = plan.signature.algorithm.data();
    const CallWatch::Call watched = engine_->watched(plan);
    stock_call(given);
    engine_->note_call(plan);
  } else {
    engine_->note_call(plan);
    engine_->run(*steady, given, engine_->take_instance(CallKind::plain));
  }
  engine_->guard().end();
  if (given.copies != nullptr) given.copies->unpack();
  engine_->tell_observer(plan, times);
}

void Collectives::offer_stock_calls() { engine_->offer_stock(); }

void Collectives::use_decisions(std::string_view table, bool tuned_stock) {
  engine_->use_decisions(DecisionTable::parse(table), tuned_stock);
}

void Collectives::stock_call(const CallArguments& /*arguments*/) {
  throw std::invalid_argument("algorithm 'mpi': these ranks have no MPI library");
}

namespace {

void require_size(std::string_view call, std::string_view what, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw std::invalid_argument(std::string(call) + ": " + std::string(what) + " has " + std::to_string(got) +
                              " bytes instead of " + std::to_string(expected));
}

std::size_t sum(std::span<const std::size_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// The whole buffer matters at the root alone where the root alone holds it.
void require_whole(const OperationTraits& row, Holder holder, bool is_root, std::size_t got,
                   std::size_t expected) {
  if (holder == Holder::root) {
    if (is_root) require_size(row.name, "the root's whole buffer", got, expected);
  } else {
    require_size(row.name, row.is_per_rank() ? "the whole buffer" : "the result", got, expected);
  }
}

/// Of an operation with a block per pair of ranks.
CallArguments prepared_pairs(CallArguments a, std::size_t self, std::size_t ranks) {
  const std::string_view name = to_string(a.operation);
  if (!traits(a.operation).takes_sizes) {
    if (a.send.size() % ranks != 0) {
      throw std::invalid_argument(std::string(name) + ": " + std::to_string(a.send.size()) +
                                  " bytes are no " + std::to_string(ranks) + " blocks of one size");
    }
    require_size(name, "the receive buffer", a.recv.size(), a.send.size());
    a.bytes = a.send.size() / ranks;
    return a;
  }
  if (a.block_bytes.empty())
    throw std::invalid_argument(std::string(name) + ": needs the size of each block");
  require_size(name, "the send buffer", a.send.size(), sum(a.block_bytes));
  require_size(name, "the receive buffer", a.recv.size(), sum(a.recv_block_bytes));
  require_size(name, "this rank's block for itself", a.recv_block_bytes[self], a.block_bytes[self]);
  a.bytes = a.send.size();
  return a;
}

}  // namespace

CallArguments Collectives::prepared(CallArguments a) const {
  const OperationTraits& row = traits(a.operation);
  const auto self = static_cast<std::size_t>(rank());
  const auto ranks = static_cast<std::size_t>(size());
  const bool is_root = rank() == a.root;
  if (a.reducer != nullptr) a.element_bytes = a.reducer->element_bytes();
  if (row.is_rooted() && row.sizes_are_own) {
    if (!is_root) a.block_bytes = {};
    if (is_root && a.block_bytes.empty())
      throw std::invalid_argument(std::string(row.name) + ": the root needs the size of each rank's block");
  }
  const bool differ = !a.block_bytes.empty();
  require_block_sizes(a, size());
  if (row.is_per_pair()) return prepared_pairs(a, self, ranks);
  if (!row.is_per_rank()) {
    const bool all_send = row.before == Holder::all;
    a.bytes = all_send ? a.send.size() : a.recv.size();
    require_whole(row, all_send ? row.after : row.before, is_root, all_send ? a.recv.size() : a.send.size(),
                  a.bytes);
    return a;
  }
  const bool block_is_sent = row.before == Holder::owner;
  const std::size_t block = block_is_sent ? a.send.size() : a.recv.size();
  if (differ) require_size(row.name, "this rank's block", block, a.block_bytes[self]);
  const std::size_t whole = differ ? sum(a.block_bytes) : block * ranks;
  require_whole(row, block_is_sent ? row.after : row.before, is_root,
                block_is_sent ? a.recv.size() : a.send.size(), whole);
  a.bytes = differ ? whole : block;
  return a;
}

void Collectives::barrier() { (void)engine_->all_say(true); }

}  // namespace papfft::comm
