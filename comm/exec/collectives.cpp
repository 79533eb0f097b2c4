// SPDX-License-Identifier: MIT
#include "papfft/collectives.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "comm/exec/execution.hpp"
#include "comm/exec/layout.hpp"
#include "comm/exec/wait.hpp"
#include "comm/schedule/registry.hpp"
#include "comm/select/select.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

/// What must be the same on all ranks of a call. Sent as bytes, hence without padding.
struct Call {
  std::uint64_t bytes = 0;  // of one block, or of the vector
  std::uint64_t element_bytes = 0;
  std::int32_t operation = 0;
  std::int32_t root = 0;
  std::int32_t ordered = 0;
  std::int32_t segments = 0;
  std::array<char, 24> algorithm{};

  [[nodiscard]] std::string text() const {
    return std::string(to_string(static_cast<Operation>(operation))) + " " + algorithm.data() + ", root " +
           std::to_string(root) + ", " + std::to_string(bytes) + " bytes in elements of " +
           std::to_string(element_bytes) + (ordered != 0 ? ", in rank order" : "");
  }
  friend bool operator==(const Call&, const Call&) = default;
};
static_assert(std::has_unique_object_representations_v<Call>);

struct Verdict {
  std::int32_t rank = -1;  // the first one that differs from rank 0, or -1
  std::int32_t unused = 0;
  std::array<Call, 2> calls{};  // rank 0's and that one's
};

constexpr std::size_t kNoteBytes = 240;
using Note = std::array<char, kNoteBytes>;

}  // namespace

struct Collectives::Impl {
  Impl(Transport& transport_in, const Options& options_in)
      : transport(transport_in),
        options(options_in),
        window{options.sends_in_flight, options.receives_in_flight},
        crowded(transport.ranks_on_host() > available_cores()) {}

  /// One block of `bytes` per rank, or one vector of `bytes`.
  void call(Operation operation, std::size_t bytes, std::size_t element_bytes, int root,
            std::string_view name, std::span<const std::byte> send, std::span<std::byte> recv,
            const Reducer* reducer = nullptr) {
    const bool ordered = reducer != nullptr && !reducer->commutative();
    if (root < 0 || root >= transport.size()) {
      throw std::invalid_argument(std::string(to_string(operation)) + ": no rank " + std::to_string(root) +
                                  " among " + std::to_string(transport.size()));
    }
    const Algorithm& algorithm = name == "auto"
                                     ? select_algorithm(operation, transport.size(), bytes, ordered)
                                     : find_algorithm(operation, name);
    const Request request{.operation = operation,
                          .ranks = transport.size(),
                          .root = root,
                          .segments = select_segments(algorithm, bytes, options.chunk_bytes),
                          .ordered = ordered};
    RankSchedule part = make_rank_schedule(algorithm, request, transport.rank());
    std::vector<std::size_t> offsets(
        moves_per_rank(operation) ? static_cast<std::size_t>(transport.size()) + 1 : 2);
    for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = r * bytes;
    Layout layout = make_layout(
        part.shape, part.rank, offsets, element_bytes,
        algorithm.segmentation == Segmentation::head_and_rest ? options.head_bytes : 0, send, recv);

    Call description{.bytes = bytes,
                     .element_bytes = element_bytes,
                     .operation = static_cast<std::int32_t>(operation),
                     .root = root,
                     .ordered = ordered ? 1 : 0,
                     .segments = request.segments};
    algorithm.name.copy(description.algorithm.data(), description.algorithm.size() - 1);
    if (options.check_arguments) check(description);
    last = {algorithm.name, run(std::move(part), std::move(layout), reducer, description)};
  }

  std::uint64_t run(RankSchedule part, Layout layout, const Reducer* reducer, const Call& description) {
    Execution execution(std::move(part), std::move(layout), transport, instance++, window, reducer);
    execution.arrive();
    Waiter waiter(options.wait, options.longest_nap, crowded);
    while (!execution.done()) {
      if (execution.step()) {
        waiter.progressed();
        continue;
      }
      waiter.pause();
      if (options.stuck_after > milliseconds(0) && waiter.idle_for() > options.stuck_after) {
        throw_stuck("rank " + std::to_string(transport.rank()) + " waits for " + execution.waits_for() +
                    " in call " + std::to_string(instance) + ", " + description.text());
      }
    }
    return execution.bytes_sent();
  }

  /// A collective of its own, by fixed algorithms, on bytes.
  void internal(Operation operation, std::span<const std::byte> send, std::span<std::byte> recv,
                std::size_t bytes, const char* algorithm) {
    const Request request{.operation = operation, .ranks = transport.size()};
    RankSchedule part = make_rank_schedule(find_algorithm(operation, algorithm), request, transport.rank());
    std::vector<std::size_t> offsets(
        moves_per_rank(operation) ? static_cast<std::size_t>(transport.size()) + 1 : 2);
    for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = r * bytes;
    Layout layout = make_layout(part.shape, part.rank, offsets, 1, 0, send, recv);
    Call description{.bytes = bytes, .element_bytes = 1, .operation = static_cast<std::int32_t>(operation)};
    std::string_view("check").copy(description.algorithm.data(), description.algorithm.size() - 1);
    run(std::move(part), std::move(layout), nullptr, description);
  }

  void check(const Call& mine) {
    std::vector<Call> all(transport.rank() == 0 ? static_cast<std::size_t>(transport.size()) : 0);
    internal(Operation::gather, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
             sizeof(Call), "lin");
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
  [[noreturn]] void throw_stuck(const std::string& mine) {
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

  Transport& transport;
  Options options;
  Window window;
  bool crowded;
  std::uint32_t instance = 0;
  CallStatistics last;
};

Collectives::Collectives(Transport& transport, const Options& options)
    : impl_(std::make_unique<Impl>(transport, options)) {}
Collectives::~Collectives() = default;
Collectives::Collectives(Collectives&&) noexcept = default;

int Collectives::rank() const { return impl_->transport.rank(); }
int Collectives::size() const { return impl_->transport.size(); }
int Collectives::ranks_on_host() const { return impl_->transport.ranks_on_host(); }
const Options& Collectives::options() const { return impl_->options; }
const CallStatistics& Collectives::last_call() const { return impl_->last; }

namespace {

void require_size(std::string_view call, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw std::invalid_argument(std::string(call) + ": the root's whole buffer has " + std::to_string(got) +
                                " bytes instead of " + std::to_string(expected));
  }
}

}  // namespace

void Collectives::scatter_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                                std::size_t element_bytes, int root, std::string_view algorithm) {
  if (rank() == root) require_size("scatter", send.size(), recv.size() * static_cast<std::size_t>(size()));
  impl_->call(Operation::scatter, recv.size(), element_bytes, root, algorithm, send, recv);
}

void Collectives::gather_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                               std::size_t element_bytes, int root, std::string_view algorithm) {
  if (rank() == root) require_size("gather", recv.size(), send.size() * static_cast<std::size_t>(size()));
  impl_->call(Operation::gather, send.size(), element_bytes, root, algorithm, send, recv);
}

void Collectives::bcast_bytes(std::span<std::byte> data, std::size_t element_bytes, int root,
                              std::string_view algorithm) {
  impl_->call(Operation::bcast, data.size(), element_bytes, root, algorithm, data, data);
}

void Collectives::reduce_bytes(std::span<const std::byte> send, std::span<std::byte> recv,
                               const Reducer& reducer, int root, std::string_view algorithm) {
  if (rank() == root) require_size("reduce", recv.size(), send.size());
  impl_->call(Operation::reduce, send.size(), reducer.element_bytes(), root, algorithm, send, recv, &reducer);
}

void Collectives::barrier() {
  std::byte token{};
  std::vector<std::byte> tokens(rank() == 0 ? static_cast<std::size_t>(size()) : 0);
  impl_->internal(Operation::gather, std::span(&token, 1), tokens, 1, "bnom");
  impl_->internal(Operation::bcast, std::span(&token, 1), std::span(&token, 1), 1, "bnom");
}

}  // namespace papfft::comm
