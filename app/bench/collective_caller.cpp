// SPDX-License-Identifier: MIT
#include "app/bench/collective_caller.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/cli/tell.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

using comm::check_mpi;
using comm::Operation;
using std::chrono::nanoseconds;

namespace {

/// What "auto" chooses is to be measured, not what the guard makes of it, unless the user asks for that.
comm::Options group_options(const CollectiveOptions& options) {
  comm::Options group = options.job.to_comm_options();
  group.guard = group.guard && std::getenv("PAPFFT_GUARD") != nullptr;
  return group;
}

}  // namespace

CallGroup::CallGroup(Job& job, const CollectiveOptions& options)
    : comm(job.comm().options().stuck_after),
      watch(job),
      session(MPI_COMM_WORLD, group_options(options),
              comm::SessionOptions{.root = options.root, .background = options.predicts}),
      plain(options.predicts ? nullptr
                             : std::make_unique<comm::Communicator>(MPI_COMM_WORLD, group_options(options))) {
}

CollectiveCaller::CollectiveCaller(CallGroup& group, const CollectiveOptions& options,
                                   const CollectiveSettings& settings, const comm::Hosts& hosts)
    : group_(group), options_(options), settings_(settings) {
  if (settings.chooses_stock()) stock_.emplace(settings.operation);
  chosen_.resize(settings.contenders.size());
  for (const Contender& c : settings.contenders) peers_.push_back(make_peer(c, hosts));
}

std::optional<StockAlgorithm> CollectiveCaller::choose_stock(std::size_t index, CollectiveData& data) {
  const Contender& contender = settings_.contenders[index];
  const comm::Options options = options_.job.to_comm_options();
  if (contender.kind == Contender::Kind::stock_chosen) {
    if (!chosen_[index]) chosen_[index] = stock_->communicator(MPI_COMM_WORLD, options, contender.stock);
    return contender.stock;
  }
  if (contender.kind != Contender::Kind::stock_best) return std::nullopt;
  StockAlgorithms::Best best = stock_->find_best(MPI_COMM_WORLD, options, [&](comm::Communicator& comm) {
    return group_.timer.time_of(comm, data, "mpi");
  });
  chosen_[index] = std::move(best.communicator);
  return best.algorithm;
}

/// Stock MPI that knows hosts, if the contender is that.
std::unique_ptr<StockPeer> CollectiveCaller::make_peer(const Contender& contender, const comm::Hosts& hosts) {
  if (contender.kind == Contender::Kind::stock_han) return make_han(MPI_COMM_WORLD);
  if (contender.kind == Contender::Kind::stock_lanes) return make_lanes(MPI_COMM_WORLD, hosts);
  return nullptr;
}

CallRecord CollectiveCaller::call(CollectiveData& data, const ArrivalPattern& pattern, std::size_t index,
                                  int round) {
  const int rank = group_.comm.rank();
  const int ranks = group_.comm.size();
  comm::MpiSession& session = group_.session;
  const comm::SessionStatistics before = session.statistics();
  data.fill(++group_.calls);
  group_.comm.double_barrier();
  CallRecord record = record_of(
      data, index, settings_.compute + nanoseconds(pattern.delay_ns(round, rank, ranks, options_.root)));
  // Hosts of a virtual cluster share cores: checking would take time from ranks that still work.
  group_.comm.quiet_barrier();
  record.correct = data.is_correct() ? 1 : 0;
  const comm::SessionStatistics after = session.statistics();
  record.planned = after.planned - before.planned;
  record.begun_early = after.begun_early - before.begun_early;
  record.thread_share = after.thread_share;
  if (settings_.contenders[index].kind == Contender::Kind::session) {
    record.segments = group_.ours().last_call().segments;
    if (after.predicted_ns) {
      record.predicted_ns = *after.predicted_ns;
      record.prediction_error_ns = std::abs(*after.predicted_ns - after.arrived_ns);
    }
  }
  return record;
}

/// The compute phase with its delay and edge, then the operation. @param total  of the compute phase
CallRecord CollectiveCaller::record_of(CollectiveData& data, std::size_t index, nanoseconds total) {
  const Contender& contender = settings_.contenders[index];
  comm::Collectives& ours = group_.ours();
  switch (contender.kind) {
    case Contender::Kind::session:
      return announced(contender.name, total, [&] { data.call(ours, contender.name); });
    case Contender::Kind::mock_up:
      return announced(contender.name, total, [&] {
        data.call_by(ours, [&](const comm::CallArguments& a) { mock_ups_.call(ours, a); });
      });
    case Contender::Kind::posted_early:
      return posted(data, contender.name, total);
    case Contender::Kind::stock_chosen:
    case Contender::Kind::stock_best:
      settings_.work.run_for(total);
      return timed(contender.name, [&] { data.call(*chosen_[index], "mpi"); });
    case Contender::Kind::stock_han:
    case Contender::Kind::stock_lanes:
      break;
  }
  settings_.work.run_for(total);
  return timed(contender.name,
               [&] { data.call_by(ours, [&](const comm::CallArguments& a) { peers_[index]->call(a); }); });
}

template <typename Call>
CallRecord CollectiveCaller::announced(const std::string& name, nanoseconds total, Call call) {
  if (!options_.predicts) {
    settings_.work.run_for(total);
    return timed(name, call);
  }
  group_.session.processing_start();
  settings_.work.run_for(before_edge(total));
  group_.session.edge(options_.edge);
  settings_.work.run_for(total - before_edge(total));
  group_.session.processing_end();
  return timed(name, call);
}

CallRecord CollectiveCaller::posted(CollectiveData& data, const std::string& name, nanoseconds total) {
  // The part that does not need its caller: a gather's root, a scatter's leaves.
  const bool is_root = group_.comm.rank() == options_.root;
  const bool at_once = (settings_.operation == Operation::gather) == is_root;
  MPI_Request request = MPI_REQUEST_NULL;
  if (at_once) data.post(group_.comm.get(), request);
  settings_.work.run_for(before_edge(total));
  int done = 0;
  check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  settings_.work.run_for(total - before_edge(total));
  return timed(name, [&] {
    if (!at_once) data.post(group_.comm.get(), request);
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  });
}

template <typename Call>
CallRecord CollectiveCaller::timed(const std::string& name, Call call) {
  CallRecord record;
  group_.watch.begins(name);
  record.arrival_ns = group_.session.now_ns();
  call();
  record.exit_ns = group_.session.now_ns();
  group_.watch.ends();
  return record;
}

nanoseconds CollectiveCaller::before_edge(nanoseconds total) const {
  return nanoseconds(std::llround(static_cast<double>(total.count()) * options_.edge));
}

bool tell_wrong_data(std::span<const CallRecord> records, Operation operation, const std::string& algorithm,
                     const Case& size, int round) {
  const auto wrong = std::ranges::find(records, 0, &CallRecord::correct);
  if (wrong == records.end()) return true;
  tell("papfft: {} by {} of {} bytes gave wrong data on rank {} in iteration {} under {}\n",
       comm::to_string(operation), algorithm, size.total_bytes, wrong - records.begin(), round,
       size.pattern->spec());
  return false;
}

}  // namespace papfft::app
