// SPDX-License-Identifier: MIT
#include "papfft/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "comm/engine/collectives_impl.hpp"
#include "comm/engine/wait.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

struct Verdict {
  std::int32_t rank = -1;  // the first one that differs from rank 0, or -1
  std::int32_t unused = 0;
  std::array<CallSignature, 2> calls{};  // rank 0's and that one's
};

constexpr std::size_t kNoteBytes = 240;
using Note = std::array<char, kNoteBytes>;

/// FNV-1a, never 0.
std::uint64_t hash(std::span<const std::size_t> values) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const std::size_t value : values) h = (h ^ value) * 0x100000001b3U;
  return std::max<std::uint64_t>(h, 1);
}

/// @throws std::invalid_argument
void require_block_sizes(const CallArguments& a, std::size_t ranks) {
  if (a.block_bytes.empty()) return;
  if (!traits(a.operation).takes_sizes) {
    throw std::invalid_argument(std::string(to_string(a.operation)) + ": takes blocks of one size only");
  }
  if (a.block_bytes.size() != ranks) {
    throw std::invalid_argument(std::string(to_string(a.operation)) + ": " +
                                std::to_string(a.block_bytes.size()) + " block sizes for " +
                                std::to_string(ranks) + " ranks");
  }
}

bool stock_serves(const CallArguments& a) {
  return a.bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         (a.reducer == nullptr || a.reducer->is_stock());
}

static_assert(std::has_unique_object_representations_v<CallSignature>);

}  // namespace

std::string CallSignature::text() const {
  return std::string(to_string(static_cast<Operation>(operation))) + " " + (background != 0 ? "b" : "") +
         algorithm.data() + (segments != 0 ? "/" + std::to_string(segments) : "") + ", root " +
         std::to_string(root) + ", " + std::to_string(bytes) + " bytes in elements of " +
         std::to_string(element_bytes) +
         (blocks != 0 ? ", block sizes #" + std::to_string(blocks % 1'000'000) : "") +
         (ordered != 0 ? ", in rank order" : "");
}

Collectives::Impl::Impl(Transport& transport_in, const Options& options_in)
    : transport(transport_in),
      options(options_in),
      credits(options.credits),
      crowded(transport.ranks_on_host() > available_cores()),
      pending(options.credits) {}

PlannedCall Collectives::Impl::plan(const CallArguments& a, bool waits) const {
  const bool ordered = a.reducer != nullptr && !a.reducer->commutative();
  if (a.root < 0 || a.root >= transport.size()) {
    throw std::invalid_argument(std::string(to_string(a.operation)) + ": no rank " + std::to_string(a.root) +
                                " among " + std::to_string(transport.size()));
  }
  const auto ranks = static_cast<std::size_t>(transport.size());
  const bool differ = !a.block_bytes.empty();
  require_block_sizes(a, ranks);
  const bool one_host = transport.ranks_on_host() == transport.size();
  const std::size_t mean_bytes = differ ? a.bytes / ranks : a.bytes;
  PlannedCall plan{
      .signature = {.bytes = a.bytes,
                    .element_bytes = a.element_bytes,
                    .operation = static_cast<std::int32_t>(a.operation),
                    .root = a.root,
                    .ordered = ordered ? 1 : 0},
      .choice = choose(a.operation, a.algorithm, transport.size(), mean_bytes, ordered, one_host)};
  // Within the MPI library nobody can tell who is stuck.
  if (stock && waits && options.stuck_after.count() == 0 && a.algorithm == "auto" && stock_serves(a) &&
      prefers_stock(a.operation, mean_bytes)) {
    plan.choice = {};
  }
  plan.signature.automatic = a.algorithm == "auto" ? 1 : 0;
  plan.choice.background = plan.choice.background && background;
  const std::string_view name = plan.choice.algorithm == nullptr ? "mpi" : plan.choice.algorithm->name;
  name.copy(plan.signature.algorithm.data(), plan.signature.algorithm.size() - 1);
  plan.signature.background = plan.choice.background ? 1 : 0;
  if (moves_per_rank(a.operation)) {
    plan.offsets.push_back(0);
    for (std::size_t r = 0; r < ranks; ++r) {
      plan.offsets.push_back(plan.offsets.back() + (differ ? a.block_bytes[r] : a.bytes));
    }
  } else {
    plan.offsets = {0, a.bytes};
  }
  if (differ) plan.signature.blocks = hash(a.block_bytes);
  if (plan.choice.algorithm != nullptr) {
    plan.signature.segments = plan.choice.segments;
    plan.segments = plan.choice.segments > 0
                        ? plan.choice.segments
                        : select_segments(*plan.choice.algorithm, transport.size(), mean_bytes, options);
  }
  if (plan.choice.background && a.reducer != nullptr) plan.reducer = a.reducer->name();
  return plan;
}

std::int64_t Collectives::Impl::round_ns(const PlannedCall& plan) const {
  const double segment_bytes = static_cast<double>(plan.signature.bytes) / plan.segments;
  return std::llround(message_ns(options.link, plan.choice.algorithm->operation, segment_bytes));
}

std::vector<std::int64_t> Collectives::Impl::trusted(const PlannedCall& plan,
                                                     std::vector<std::int64_t> arrival_ns,
                                                     std::int64_t error_ns) const {
  const bool doubtful = plan.signature.automatic != 0 && is_reduction(plan.choice.algorithm->operation) &&
                        !is_worth_planning(error_ns, round_ns(plan));
  return doubtful ? std::vector<std::int64_t>{} : std::move(arrival_ns);
}

RankSchedule Collectives::Impl::part(const PlannedCall& plan, std::vector<std::int64_t> arrival_ns) const {
  const Algorithm& chosen = *plan.choice.algorithm;
  const bool is_blind = plan.signature.automatic != 0 && arrival_ns.empty();
  const Algorithm& algorithm = is_blind ? without_arrivals(chosen) : chosen;
  RankSchedule mine = make_rank_schedule(algorithm,
                                         {.operation = algorithm.operation,
                                          .ranks = transport.size(),
                                          .root = plan.signature.root,
                                          .segments = plan.segments,
                                          .ordered = plan.signature.ordered != 0,
                                          .arrival_ns = std::move(arrival_ns),
                                          .round_ns = round_ns(plan)},
                                         transport.rank());
  // Always, not only if it has begun early: the order of combining, hence rounding, shall not depend on who came when.
  const bool early = plan.choice.background && is_reduction(algorithm.operation) && !mine.shape.ordered;
  return early ? combine_own_last(mine) : mine;
}

Layout Collectives::Impl::layout(const PlannedCall& plan, const Shape& shape, std::span<const std::byte> send,
                                 std::span<std::byte> recv) const {
  const bool head = plan.choice.algorithm->segmentation == Segmentation::head_and_rest;
  return make_layout(shape, transport.rank(), plan.offsets, plan.signature.element_bytes,
                     head ? options.head_bytes : 0, send, recv);
}

void Collectives::Impl::finish(Execution& execution, const CallSignature& signature) {
  wait([&] { return execution.step(); }, [&] { return execution.done(); },
       [&] {
         return "rank " + std::to_string(transport.rank()) + " waits for " + execution.waits_for() +
                " in call " + std::to_string(calls) + ", " + signature.text();
       });
  last.bytes_sent = execution.bytes_sent();
  last.bytes_staged = execution.bytes_staged();
}

void Collectives::Impl::internal(Operation operation, std::span<const std::byte> send,
                                 std::span<std::byte> recv, std::size_t bytes, const char* algorithm,
                                 Rank root) {
  run(plan({.operation = operation, .bytes = bytes, .root = root, .algorithm = algorithm}), send, recv,
      nullptr);
}

void Collectives::Impl::run(const PlannedCall& plan, std::span<const std::byte> send,
                            std::span<std::byte> recv, const Reducer* reducer) {
  RankSchedule mine = part(plan, {});
  Layout where = layout(plan, mine.shape, send, recv);
  const Window window = select_window(mine.shape, plan.signature.bytes, options);
  Execution execution(std::move(mine), std::move(where), transport, instance_of(calls++, CallKind::plain),
                      window, reducer, &credits);
  execution.observe(observer);
  execution.arrive();
  finish(execution, plan.signature);
}

void Collectives::Impl::check(const CallSignature& mine) {
  std::vector<CallSignature> all(transport.rank() == 0 ? static_cast<std::size_t>(transport.size()) : 0);
  internal(Operation::gather, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
           sizeof(CallSignature), "lin");
  Verdict verdict;
  for (std::size_t r = 1; r < all.size() && verdict.rank < 0; ++r) {
    if (!(all[r] == all[0])) verdict = {static_cast<std::int32_t>(r), 0, {all[0], all[r]}};
  }
  const auto bytes = std::as_writable_bytes(std::span(&verdict, 1));
  internal(Operation::bcast, bytes, bytes, sizeof(Verdict), "bnom");
  if (verdict.rank >= 0) {
    throw MismatchError("the ranks do not agree: rank 0 calls " + verdict.calls[0].text() + "; rank " +
                        std::to_string(verdict.rank) + " calls " + verdict.calls[1].text());
  }
}

/// Ranks that are stuck tell each other, so that one of them can say who waits for whom.
void Collectives::Impl::throw_stuck(const std::string& mine) {
  const auto p = static_cast<std::size_t>(transport.size());
  const auto self = static_cast<std::size_t>(transport.rank());
  std::vector<Note> notes(p);
  mine.copy(notes[self].data(), kNoteBytes - 1);
  const std::unique_ptr<Channel> channel = transport.open();
  const int tag = transport.max_tag();
  for (std::size_t r = 0; r < p; ++r) {
    if (r == self) continue;
    (void)channel->irecv(static_cast<Rank>(r), tag, std::as_writable_bytes(std::span(notes[r])));
    (void)channel->isend(static_cast<Rank>(r), tag, std::as_bytes(std::span(notes[self])));
  }
  const auto grace = std::clamp(options.stuck_after / 2, milliseconds(200), milliseconds(2000));
  Waiter waiter(WaitPolicy::nap, options.longest_nap, true);
  std::vector<int> ended;
  while (waiter.idle_for() < grace) {
    channel->poll(ended);
    waiter.pause();
  }
  std::string text = "no progress for " + std::to_string(options.stuck_after.count()) + " ms: ";
  std::string silent;
  bool speaks = true;
  for (std::size_t r = 0; r < p; ++r) {
    if (notes[r][0] == '\0') {
      silent += (silent.empty() ? "" : ", ") + std::to_string(r);
      continue;
    }
    if (r < self) speaks = false;
    notes[r].back() = '\0';
    text += std::string(notes[r].data()) + "; ";
  }
  text += silent.empty() ? "all ranks are in a call" : "not in a stuck call: rank " + silent;
  throw StuckError(text, speaks);
}

Collectives::Collectives(Transport& transport, const Options& options)
    : impl_(std::make_unique<Impl>(transport, options)) {}
Collectives::~Collectives() = default;
Collectives::Collectives(Collectives&&) noexcept = default;

int Collectives::rank() const { return impl_->transport.rank(); }
int Collectives::size() const { return impl_->transport.size(); }
int Collectives::ranks_on_host() const { return impl_->transport.ranks_on_host(); }
const Options& Collectives::options() const { return impl_->options; }
const CallStatistics& Collectives::last_call() const { return impl_->last; }

void Collectives::call(const CallArguments& arguments) {
  Impl& x = *impl_;
  const std::int64_t arrival_ns = x.observed_now_ns();
  const PlannedCall planned = x.plan(arguments);
  if (x.options.check_arguments) x.check(planned.signature);
  if (planned.choice.algorithm == nullptr) {
    stock_call(arguments);
    x.last = {.algorithm = "mpi"};
  } else {
    x.last.algorithm = planned.choice.algorithm->name;
    x.last.segments = planned.segments;
    x.run(planned, arguments.send, arguments.recv, arguments.reducer);
  }
  x.tell_observer(planned, arrival_ns);
}

void Collectives::observe(Observer* observer) { impl_->observer = observer; }

void Collectives::Impl::tell_observer(const PlannedCall& plan, std::int64_t arrival_ns,
                                      std::optional<std::int64_t> ahead_ns,
                                      std::optional<std::int64_t> early_ns) {
  if (observer == nullptr) return;
  CallRecord record{.operation = static_cast<Operation>(plan.signature.operation),
                    .algorithm = last.algorithm,
                    .number = observed++,
                    .root = plan.signature.root,
                    .bytes = plan.signature.bytes,
                    .arrival_ns = arrival_ns,
                    .exit_ns = steady_now_ns(),
                    .early_ns = early_ns};
  if (ahead_ns) record.predicted_ns = arrival_ns + *ahead_ns;
  observer->call_ended(record);
}

void Collectives::offer_stock_calls() { impl_->stock = true; }

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

}  // namespace

CallArguments Collectives::prepared(CallArguments a) const {
  const OperationTraits& row = traits(a.operation);
  const auto self = static_cast<std::size_t>(rank());
  const auto ranks = static_cast<std::size_t>(size());
  const bool is_root = rank() == a.root;
  const bool differ = !a.block_bytes.empty();
  if (a.reducer != nullptr) a.element_bytes = a.reducer->element_bytes();
  require_block_sizes(a, ranks);
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
  if (block_is_sent && row.after == Holder::all) {
    // From its place in the whole vector the block can be sent together with its neighbours.
    const auto own = a.recv.subspan(differ ? sum(a.block_bytes.first(self)) : self * block, block);
    if (block > 0 && a.send.data() != own.data()) std::memmove(own.data(), a.send.data(), block);
    a.send = own;
  }
  return a;
}

void Collectives::scatter_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                                std::size_t element_bytes, int root, std::string_view algorithm) {
  call(prepared({.operation = Operation::scatter,
                 .element_bytes = element_bytes,
                 .root = root,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv}));
}

void Collectives::gather_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                               std::size_t element_bytes, int root, std::string_view algorithm) {
  call(prepared({.operation = Operation::gather,
                 .element_bytes = element_bytes,
                 .root = root,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv}));
}

void Collectives::bcast_bytes(std::span<std::byte> data, std::size_t element_bytes, int root,
                              std::string_view algorithm) {
  call(prepared({.operation = Operation::bcast,
                 .element_bytes = element_bytes,
                 .root = root,
                 .algorithm = algorithm,
                 .send = data,
                 .recv = data}));
}

void Collectives::reduce_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                               const Reducer& reducer, int root, std::string_view algorithm) {
  call(prepared({.operation = Operation::reduce,
                 .root = root,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv,
                 .reducer = &reducer}));
}

void Collectives::allgather_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                                  std::size_t element_bytes, std::string_view algorithm) {
  call(prepared({.operation = Operation::allgather,
                 .element_bytes = element_bytes,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv}));
}

void Collectives::allgatherv_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                                   std::span<const std::size_t> block_bytes, std::size_t element_bytes,
                                   std::string_view algorithm) {
  if (block_bytes.empty()) throw std::invalid_argument("allgatherv: needs the size of each rank's block");
  call(prepared({.operation = Operation::allgatherv,
                 .element_bytes = element_bytes,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv,
                 .block_bytes = block_bytes}));
}

void Collectives::allreduce_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                                  const Reducer& reducer, std::string_view algorithm) {
  call(prepared({.operation = Operation::allreduce,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv,
                 .reducer = &reducer}));
}

void Collectives::reduce_scatter_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                                       std::span<const std::size_t> block_bytes, const Reducer& reducer,
                                       std::string_view algorithm) {
  call(prepared({.operation = Operation::reduce_scatter,
                 .algorithm = algorithm,
                 .send = send,
                 .recv = recv,
                 .reducer = &reducer,
                 .block_bytes = block_bytes}));
}

void Collectives::barrier() {
  std::byte token{};
  std::vector<std::byte> tokens(rank() == 0 ? static_cast<std::size_t>(size()) : 0);
  impl_->internal(Operation::gather, std::span(&token, 1), tokens, 1, "bnom");
  impl_->internal(Operation::bcast, std::span(&token, 1), std::span(&token, 1), 1, "bnom");
}

}  // namespace papfft::comm
