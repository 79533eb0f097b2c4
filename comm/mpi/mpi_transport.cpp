// SPDX-License-Identifier: MIT
#include "comm/mpi/mpi_transport.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "comm/mpi/host_memory.hpp"
#include "comm/mpi/mpi_lifetime.hpp"
#include "comm/transport/memory/memory_channel.hpp"

namespace papfft::comm {

namespace {

std::string mpi_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Count and datatype for any number of bytes: MPI counts are ints, so that 2 GiB and more need a derived type.
class ByteType {
 public:
  explicit ByteType(std::size_t bytes) {
    if (bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      count_ = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t kChunk = std::size_t{1} << 30;
    MPI_Datatype chunk = MPI_DATATYPE_NULL;
    PAPFFT_MPI(MPI_Type_contiguous, static_cast<int>(kChunk), MPI_BYTE, &chunk);
    const std::array<int, 2> lengths = {static_cast<int>(bytes / kChunk), static_cast<int>(bytes % kChunk)};
    const std::array<MPI_Aint, 2> offsets = {0, static_cast<MPI_Aint>(bytes / kChunk * kChunk)};
    const std::array<MPI_Datatype, 2> types = {chunk, MPI_BYTE};
    PAPFFT_MPI(MPI_Type_create_struct, 2, lengths.data(), offsets.data(), types.data(), &type_);
    PAPFFT_MPI(MPI_Type_free, &chunk);
    PAPFFT_MPI(MPI_Type_commit, &type_);
    count_ = 1;
    derived_ = true;
  }
  ~ByteType() {
    if (derived_) MPI_Type_free(&type_);  // MPI keeps what messages under way still need
  }
  ByteType(const ByteType&) = delete;
  ByteType& operator=(const ByteType&) = delete;
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
  bool derived_ = false;
};

/// Whether MPI lets other processes run whenever it finds nothing to do. Open MPI does if it is told so, and else on nodes with more
/// ranks than slots; mpirun says that in the environment. To ask MPI's tools interface would open all of its components once more,
/// which takes as long as MPI_Init.
bool mpi_yields_when_idle() {
  const char* told = std::getenv("OMPI_MCA_mpi_yield_when_idle");
  if (told == nullptr) told = std::getenv("OMPI_MCA_mpi_oversubscribe");
  return told != nullptr && std::string_view("1tyeTYE").find(*told) != std::string_view::npos && *told != 0;
}

/// Messages that nobody waits for any more, and the memory that MPI still uses for them. One list per process, as they
/// outlive their transport. What has not ended when MPI does is never freed.
class Abandoned {
 public:
  static Abandoned& all() {
    static auto* const list = new Abandoned;
    return *list;
  }

  void add(std::vector<MPI_Request> requests, std::vector<std::shared_ptr<const void>> memory) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({std::move(requests), std::move(memory)});
    sweep_locked();
  }

  /// Frees what has ended by now.
  void sweep() {
    const std::lock_guard lock(mutex_);
    sweep_locked();
  }

 private:
  struct Entry {
    std::vector<MPI_Request> requests;
    std::vector<std::shared_ptr<const void>> memory;
  };

  static bool has_ended(Entry& entry) {
    int done = 0;
    const int code = MPI_Testall(static_cast<int>(entry.requests.size()), entry.requests.data(), &done,
                                 MPI_STATUSES_IGNORE);
    return code == MPI_SUCCESS && done != 0;
  }
  void sweep_locked() { std::erase_if(entries_, has_ended); }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

class MpiChannel final : public Channel {
 public:
  MpiChannel(MPI_Comm comm, Rank rank) : comm_(comm), rank_(rank) {}

  ~MpiChannel() override {
    if (mpi_has_ended()) return;
    // After an error, or of a call that was expected and never came. Sends cannot be cancelled, and a receive cannot once
    // it has begun: to free such a request would not stop MPI from using memory that is no longer ours.
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] != MPI_REQUEST_NULL && messages_[i].receive) MPI_Cancel(&requests_[i]);
    }
    std::erase(requests_, MPI_REQUEST_NULL);
    if (!requests_.empty()) Abandoned::all().add(std::move(requests_), take_kept());
  }

  /// MPI has taken most short messages over by then, so that poll() need not ask for them.
  int isend(Rank target, int tag, std::span<const std::byte> data) override {
    const int ticket = start(MPI_Isend, data, tag, {target, data.size(), false});
    if (data.size() <= kShortBytes && test(ticket, MPI_STATUS_IGNORE)) over_.push_back(ticket);
    return ticket;
  }
  int issend(Rank target, int tag, std::span<const std::byte> data) override {
    return start(MPI_Issend, data, tag, {target, data.size(), false});
  }
  int irecv(Rank source, int tag, std::span<std::byte> data) override {
    return start(MPI_Irecv, data, tag, {source, data.size(), true});
  }

  bool poll(std::vector<int>& ended) override {
    if (!over_.empty()) {
      ended.insert(ended.end(), over_.begin(), over_.end());
      free_.insert(free_.end(), over_.begin(), over_.end());
      over_.clear();
      return true;
    }
    if (open_ == 0) return false;
    require_open();
    return open_ == 1 ? poll_one(ended) : poll_some(ended);
  }

  /// By looking for a message of this rank to itself, which there never is.
  void move_on() override {
    require_open();
    int found = 0;
    PAPFFT_MPI(MPI_Iprobe, rank_, 0, comm_, &found, MPI_STATUS_IGNORE);
  }

 private:
  static void require_open() {
    if (mpi_has_ended()) require_mpi();
  }

  struct Message {
    Rank peer = 0;
    std::size_t bytes = 0;
    bool receive = false;
  };
  /// MPI libraries copy a message of so many bytes to somewhere else at once.
  static constexpr std::size_t kShortBytes = 4096;

  /// @return whether that message has ended
  bool test(int ticket, MPI_Status* status) {
    int done = 0;
    const int code = MPI_Test(&requests_[static_cast<std::size_t>(ticket)], &done, status);
    if (code != MPI_SUCCESS) check_mpi(code, what(ticket));
    if (done != 0) --open_;
    return done != 0;
  }

  /// MPI_Testsome tells only the next time what it has just completed; MPI_Test tells at once.
  bool poll_one(std::vector<int>& ended) {
    const auto one =
        std::ranges::find_if(requests_, [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
    const auto ticket = static_cast<int>(one - requests_.begin());
    MPI_Status status;
    if (!test(ticket, &status)) return false;
    end(ticket, status, ended);
    return true;
  }

  bool poll_some(std::vector<int>& ended) {
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                  indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Testsome");
    if (count == MPI_UNDEFINED) return false;
    open_ -= count;
    for (int k = 0; k < count; ++k) {
      const int ticket = indices_[static_cast<std::size_t>(k)];
      MPI_Status& status = statuses_[static_cast<std::size_t>(k)];
      if (code == MPI_ERR_IN_STATUS) check_mpi(status.MPI_ERROR, what(ticket));
      end(ticket, status, ended);
    }
    return count > 0;
  }

  void end(int ticket, MPI_Status& status, std::vector<int>& ended) {
    const Message& message = messages_[static_cast<std::size_t>(ticket)];
    if (message.receive) check_size(ticket, status, message);
    free_.push_back(ticket);
    ended.push_back(ticket);
  }

  /// @param call  of MPI @return its ticket
  template <typename Call, typename Bytes>
  int start(Call call, Bytes data, int tag, const Message& message) {
    require_open();
    const ByteType as(data.size());
    const int ticket = free_ticket(message);
    MPI_Request& request = requests_[static_cast<std::size_t>(ticket)];
    const int code = call(data.data(), as.count(), as.type(), message.peer, tag, comm_, &request);
    if (code != MPI_SUCCESS) check_mpi(code, what(ticket));  // the text would cost every message its time
    ++open_;
    return ticket;
  }

  int free_ticket(const Message& message) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(requests_.size()));
      requests_.push_back(MPI_REQUEST_NULL);
      messages_.emplace_back();
      indices_.emplace_back();
      statuses_.emplace_back();
    }
    const int ticket = free_.back();
    free_.pop_back();
    messages_[static_cast<std::size_t>(ticket)] = message;
    return ticket;
  }

  std::string what(int ticket) const {
    const Message& m = messages_[static_cast<std::size_t>(ticket)];
    return "rank " + std::to_string(rank_) + (m.receive ? " receiving " : " sending ") +
           std::to_string(m.bytes) + " bytes " + (m.receive ? "from" : "to") + " rank " +
           std::to_string(m.peer);
  }

  void check_size(int ticket, MPI_Status& status, const Message& message) const {
    MPI_Count got = 0;
    PAPFFT_MPI(MPI_Get_elements_x, &status, MPI_BYTE, &got);
    if (static_cast<std::size_t>(got) != message.bytes) {
      throw TransportError(what(ticket) + ": got " + std::to_string(got) +
                           " (do all ranks pass the same arguments?)");
    }
  }

  MPI_Comm comm_;
  Rank rank_;
  std::vector<MPI_Request> requests_;
  std::vector<Message> messages_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> free_;
  std::vector<int> over_;  // tickets of sends that were over at once
  int open_ = 0;           // messages that have not ended
};

}  // namespace

void check_mpi(int code, std::string_view what) {
  if (code != MPI_SUCCESS) throw TransportError(std::string(what) + ": " + mpi_text(code));
}

MpiTransport::MpiTransport(MPI_Comm comm, bool share_memory) {
  require_mpi();
  if (comm == MPI_COMM_NULL) throw std::invalid_argument("papfft: the communicator is MPI_COMM_NULL");
  watch_mpi_end();
  int inter = 0;
  PAPFFT_MPI(MPI_Comm_test_inter, comm, &inter);
  if (inter != 0) throw std::invalid_argument("papfft: intercommunicators are not supported");
  PAPFFT_MPI(MPI_Comm_dup, comm, &comm_);
  PAPFFT_MPI(MPI_Comm_set_errhandler, comm_, MPI_ERRORS_RETURN);
  PAPFFT_MPI(MPI_Comm_rank, comm_, &rank_);
  PAPFFT_MPI(MPI_Comm_size, comm_, &size_);
  int* tag_limit = nullptr;
  int found = 0;
  PAPFFT_MPI(MPI_Comm_get_attr, MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&tag_limit), &found);
  max_tag_ = found != 0 ? *tag_limit : 32767;  // the least that the standard allows
  int level = MPI_THREAD_SINGLE;
  PAPFFT_MPI(MPI_Query_thread, &level);
  threads_allowed_ = level == MPI_THREAD_MULTIPLE;
  mpi_yields_ = mpi_yields_when_idle();
  find_hosts(share_memory);
}

/// Who shares this rank's host, and which cores they have together. On all ranks the same: each host's number, which is its lowest
/// rank, and whether some ranks share cores.
void MpiTransport::find_hosts(bool share_memory) {
  MPI_Comm host = MPI_COMM_NULL;
  PAPFFT_MPI(MPI_Comm_split_type, comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PAPFFT_MPI(MPI_Comm_size, host, &ranks_on_host_);
  Cores cores = own_cores();  // the batch system may have bound each rank to some
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, cores.data(), static_cast<int>(cores.size()), MPI_UINT64_T, MPI_BOR,
             host);
  cores_on_host_ = count(cores);
  int lowest = rank_;
  PAPFFT_MPI(MPI_Bcast, &lowest, 1, MPI_INT, 0, host);
  std::vector<int> place_of_rank(static_cast<std::size_t>(size_) + 1, -1);  // among those of this host
  PAPFFT_MPI(MPI_Comm_rank, host, &place_of_rank[static_cast<std::size_t>(rank_)]);
  place_of_rank.back() = share_memory ? 0 : 1;
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, place_of_rank.data(), size_ + 1, MPI_INT, MPI_MAX, host);
  const bool all_share = place_of_rank.back() == 0;
  place_of_rank.pop_back();
  // Through a pipe both ranks copy at once; where they share a core, MPI's one copy costs less.
  if (all_share && ranks_on_host_ > 1 && !is_crowded()) {
    std::shared_ptr<void> memory =
        comm::share_memory(host, HostPipes::bytes_for(ranks_on_host_),
                           [this](void* at) { HostPipes::prepare(at, ranks_on_host_); });
    if (memory != nullptr) {
      pipes_ = std::make_shared<HostPipes>(std::move(memory), std::move(place_of_rank), rank_);
    }
  }
  PAPFFT_MPI(MPI_Comm_free, &host);
  // Not by MPI_Allgather: a communicator may be told to do that by an algorithm for two ranks only.
  host_of_rank_.assign(static_cast<std::size_t>(size_) + 1, -1);
  host_of_rank_[static_cast<std::size_t>(rank_)] = lowest;
  host_of_rank_.back() = is_crowded() ? 1 : 0;
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, host_of_rank_.data(), size_ + 1, MPI_INT, MPI_MAX, comm_);
  is_any_crowded_ = host_of_rank_.back() == 1;
  host_of_rank_.pop_back();
}

MpiTransport::~MpiTransport() {
  if (comm_ == MPI_COMM_NULL || mpi_has_ended()) return;
  Abandoned::all().sweep();
  MPI_Comm_free(&comm_);  // the messages under way keep what they need of it
}

MpiTransport::MpiTransport(MpiTransport&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      max_tag_(other.max_tag_),
      ranks_on_host_(other.ranks_on_host_),
      cores_on_host_(other.cores_on_host_),
      is_any_crowded_(other.is_any_crowded_),
      mpi_yields_(other.mpi_yields_),
      host_of_rank_(std::move(other.host_of_rank_)),
      threads_allowed_(other.threads_allowed_),
      pipes_(std::move(other.pipes_)) {}

std::unique_ptr<Channel> MpiTransport::open() {
  if (mpi_has_ended()) require_mpi();
  auto channel = std::make_unique<MpiChannel>(comm_, rank_);
  if (pipes_ == nullptr) return channel;
  return std::make_unique<MemoryChannel>(std::move(channel), pipes_, max_tag_);
}

}  // namespace papfft::comm
