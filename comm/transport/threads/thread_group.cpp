// SPDX-License-Identifier: MIT
#include "comm/transport/threads/thread_group.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <thread>

#include "comm/transport/memory/memory_channel.hpp"

namespace papfft::comm {

namespace {

/// The tickets of one channel that have ended; filled by any rank's thread.
struct Completions {
  std::mutex mutex;
  std::vector<int> ended;
  std::string error;

  void add(int ticket) {
    const std::lock_guard lock(mutex);
    ended.push_back(ticket);
  }
};

struct Posted {
  Rank source = 0;
  int tag = 0;
  std::span<const std::byte> from;  // of a send
  std::span<std::byte> to;          // of a receive
  int ticket = 0;
  Completions* owner = nullptr;
};

/// What has been posted to or by one receiving rank and has not met its counterpart.
struct Mailbox {
  std::mutex mutex;
  std::deque<Posted> sends;
  std::deque<Posted> receives;

  static bool take(std::deque<Posted>& queue, const Posted& like, Posted& found) {
    const auto it = std::ranges::find_if(
        queue, [&](const Posted& p) { return p.source == like.source && p.tag == like.tag; });
    if (it == queue.end()) return false;
    found = *it;
    queue.erase(it);
    return true;
  }
};

}  // namespace

struct ThreadGroup::State {
  State(int size_in, std::uint32_t seed_in, std::vector<int> hosts, std::size_t piped_from_bytes)
      : size(size_in),
        seed(seed_in),
        host_of_rank(hosts.empty() ? std::vector<int>(static_cast<std::size_t>(size_in)) : std::move(hosts)),
        mailboxes(static_cast<std::size_t>(size_in)) {
    if (piped_from_bytes > 0) connect(piped_from_bytes);
  }
  void connect(std::size_t piped_from_bytes) {
    std::map<int, std::vector<Rank>> hosts;
    for (Rank r = 0; r < size; ++r) hosts[host_of_rank[static_cast<std::size_t>(r)]].push_back(r);
    pipes.resize(static_cast<std::size_t>(size));
    for (const auto& [host, ranks] : hosts) {
      const auto count = static_cast<int>(ranks.size());
      std::vector<int> place_of_rank(static_cast<std::size_t>(size), -1);
      for (int i = 0; i < count; ++i)
        place_of_rank[static_cast<std::size_t>(ranks[static_cast<std::size_t>(i)])] = i;
      const auto alignment = static_cast<std::align_val_t>(alignof(Pipe));
      const std::shared_ptr<void> memory(::operator new(HostPipes::bytes_for(count), alignment),
                                         [=](void* at) { ::operator delete(at, alignment); });
      HostPipes::prepare(memory.get(), count);
      for (const Rank r : ranks) {
        pipes[static_cast<std::size_t>(r)] =
            std::make_shared<HostPipes>(memory, place_of_rank, r, piped_from_bytes);
      }
    }
  }
  int size;
  std::uint32_t seed;
  std::vector<int> host_of_rank;
  std::vector<Mailbox> mailboxes;
  std::vector<std::shared_ptr<HostPipes>> pipes = {};  // per rank, if there are any
  std::atomic<bool> failed{false};

  /// Both halves of a message have met.
  static void deliver(const Posted& send, const Posted& receive) {
    if (send.from.size() == receive.to.size()) {
      std::ranges::copy(send.from, receive.to.begin());
    } else {
      const std::lock_guard lock(receive.owner->mutex);
      receive.owner->error = "receiving " + std::to_string(receive.to.size()) + " bytes from rank " +
                             std::to_string(send.source) + ": got " + std::to_string(send.from.size()) +
                             " (do all ranks pass the same arguments?)";
    }
    send.owner->add(send.ticket);
    receive.owner->add(receive.ticket);
  }
};

namespace {

class ThreadChannel final : public Channel {
 public:
  ThreadChannel(ThreadGroup::State& group, Rank rank, std::uint32_t seed)
      : group_(group), rank_(rank), random_(seed), jitter_(seed != 0) {}

  ~ThreadChannel() override {  // afterwards nobody else touches the memory of its messages
    for (Mailbox& box : group_.mailboxes) {
      const std::lock_guard lock(box.mutex);
      const auto mine = [&](const Posted& p) { return p.owner == &completions_; };
      std::erase_if(box.sends, mine);
      std::erase_if(box.receives, mine);
    }
  }

  int isend(Rank target, int tag, std::span<const std::byte> data) override {
    Mailbox& box = group_.mailboxes.at(static_cast<std::size_t>(target));
    const Posted send{rank_, tag, data, {}, new_ticket(), &completions_};
    Posted receive;
    const std::lock_guard lock(box.mutex);
    if (Mailbox::take(box.receives, send, receive)) {
      ThreadGroup::State::deliver(send, receive);
    } else {
      box.sends.push_back(send);
    }
    return send.ticket;
  }

  int issend(Rank target, int tag, std::span<const std::byte> data) override {
    return isend(target, tag, data);  // which nothing buffers
  }

  int irecv(Rank source, int tag, std::span<std::byte> data) override {
    Mailbox& box = group_.mailboxes.at(static_cast<std::size_t>(rank_));
    const Posted receive{source, tag, {}, data, new_ticket(), &completions_};
    Posted send;
    const std::lock_guard lock(box.mutex);
    if (Mailbox::take(box.sends, receive, send)) {
      ThreadGroup::State::deliver(send, receive);
    } else {
      box.receives.push_back(receive);
    }
    return receive.ticket;
  }

  void move_on() override {
    if (group_.failed) throw TransportError("rank " + std::to_string(rank_) + ": another rank has failed");
  }

  bool poll(std::vector<int>& ended) override {
    move_on();
    const std::lock_guard lock(completions_.mutex);
    if (!completions_.error.empty()) {
      throw TransportError("rank " + std::to_string(rank_) + " " + completions_.error);
    }
    std::vector<int>& ready = completions_.ended;
    if (jitter_) std::ranges::shuffle(ready, random_);
    const std::size_t count = jitter_ && !ready.empty() ? random_() % (ready.size() + 1) : ready.size();
    ended.insert(ended.end(), ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(count));
    free_tickets_.insert(free_tickets_.end(), ready.begin(),
                         ready.begin() + static_cast<std::ptrdiff_t>(count));
    ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(count));
    return count > 0;
  }

 private:
  int new_ticket() {  // reused soon, as MPI's are
    if (free_tickets_.empty()) return next_ticket_++;
    const int ticket = free_tickets_.back();
    free_tickets_.pop_back();
    return ticket;
  }

  ThreadGroup::State& group_;
  Rank rank_;
  Completions completions_;
  std::vector<int> free_tickets_;
  int next_ticket_ = 0;
  std::mt19937 random_;
  bool jitter_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(ThreadGroup::State& group, Rank rank) : group_(group), rank_(rank) {}
  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return group_.size; }
  [[nodiscard]] int max_tag() const override { return 32767; }
  [[nodiscard]] int ranks_on_host() const override {
    return static_cast<int>(
        std::ranges::count(group_.host_of_rank, group_.host_of_rank[static_cast<std::size_t>(rank_)]));
  }
  [[nodiscard]] std::span<const int> host_of_rank() const override { return group_.host_of_rank; }
  [[nodiscard]] bool threads_allowed() const override { return true; }
  [[nodiscard]] std::unique_ptr<Channel> open() override {
    const std::uint32_t count = ++opened_;
    const std::uint32_t seed =
        group_.seed == 0 ? 0 : group_.seed * 7919U + count * 104729U + static_cast<std::uint32_t>(rank_) + 1U;
    auto channel = std::make_unique<ThreadChannel>(group_, rank_, seed);
    if (group_.pipes.empty()) return channel;
    return std::make_unique<MemoryChannel>(std::move(channel), group_.pipes[static_cast<std::size_t>(rank_)],
                                           max_tag());
  }

 private:
  ThreadGroup::State& group_;
  Rank rank_;
  std::atomic<std::uint32_t> opened_{0};
};

}  // namespace

ThreadGroup::ThreadGroup(int size, std::uint32_t seed, std::vector<int> host_of_rank,
                         std::size_t piped_from_bytes)
    : state_(std::make_unique<State>(size, seed, std::move(host_of_rank), piped_from_bytes)) {}
ThreadGroup::~ThreadGroup() = default;

void ThreadGroup::run(const std::function<void(Transport&)>& body) {
  std::exception_ptr first;
  std::mutex first_mutex;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(state_->size));
  for (Rank r = 0; r < state_->size; ++r) {
    threads.emplace_back([&, r] {
      ThreadTransport transport(*state_, r);
      try {
        body(transport);
      } catch (...) {
        const std::lock_guard lock(first_mutex);
        if (!first) first = std::current_exception();
        state_->failed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  state_->failed = false;
  if (first) std::rethrow_exception(first);
}

}  // namespace papfft::comm
