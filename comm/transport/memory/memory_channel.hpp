// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/transport/memory/host_pipes.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// Messages between ranks of a host through their shared memory, all others over the channel below.
///
/// For each message a letter goes to its receiver. It encloses a short message. Of a long one it says which of the sender's pipes has the
/// bytes. If no pipe was free, the message follows over the channel below, with a tag of its own: other messages with the tag of
/// the letter may be under way. So does what is missing when a sender abandons a message half-way.
class MemoryChannel final : public Channel, private LetterReader {
 public:
  /// @param max_tag  of the channel below
  MemoryChannel(std::unique_ptr<Channel> below, std::shared_ptr<HostPipes> pipes, int max_tag);
  ~MemoryChannel() override;

  int isend(Rank target, int tag, std::span<const std::byte> data) override;
  int issend(Rank target, int tag, std::span<const std::byte> data) override;
  int irecv(Rank source, int tag, std::span<std::byte> data) override;
  int irecv_pieces(Rank source, int tag, std::size_t bytes, Pieces& pieces, int key) override;
  bool poll(std::vector<int>& ended) override;

 private:
  /// A message under way.
  struct Message {
    int ticket = 0;
    Rank peer = 0;
    int tag = 0;
    bool is_receive = false;
    std::span<const std::byte> from = {};  // of a send: what has not been written into the pipe
    std::span<std::byte> to = {};          // of a receive: the place of the whole message, if not by pieces
    std::size_t bytes = 0;
    std::size_t done = 0;  // bytes written or read
    std::chrono::steady_clock::duration writing = {};
    Pieces* pieces = nullptr;
    int key = 0;
    Pipe* pipe = nullptr;        // while bytes go through it
    int below = 0;               // messages of the channel below that have not ended
    bool awaits_letter = false;  // of a send: room for it
    LetterHead header = {};
    std::vector<std::byte> rest = {};  // of a receive by pieces whose sender abandoned the pipe
  };
  using Messages = std::deque<Message>;  // what is missing stays in place while it is under way
  /// A rank of this host from which letters are awaited.
  struct Source {
    Rank rank = 0;
    int awaited = 0;
  };

  [[nodiscard]] Message& message(int ticket) { return (*messages_)[static_cast<std::size_t>(ticket)]; }
  int add(const Message& message);
  void track(Message& message, int ticket_below);
  int receive(const Message& message);
  [[nodiscard]] Source& source(Rank rank);
  [[nodiscard]] static std::span<const std::byte> enclosed_in(const Message& message);
  void post_or_wait(Message& message, int way);
  bool post_waiting();
  bool take_letters();
  bool take_letter(Rank source, const LetterHead& head, std::span<const std::byte> enclosed) override;
  void read_enclosed(Message& message, std::span<const std::byte> enclosed);
  void read_header(Message& message);
  bool poll_below(bool is_idle);
  [[nodiscard]] int follow(Message& message);
  void receive_rest(Message& message, int tag);
  [[noreturn]] void refuse(const Message& message, const std::string& why) const;
  [[nodiscard]] static bool is_over(const Message& message);
  void end_if_done(Message& message);
  /// Move what can be moved of a message with a pipe. @return whether anything was
  bool write(Message& message);
  bool read(Message& message);

  std::shared_ptr<HostPipes> pipes_;
  int max_tag_;
  std::shared_ptr<Messages> messages_ = std::make_shared<Messages>();
  std::vector<int> free_;      // tickets
  std::vector<int> over_;      // tickets of messages that are over, for the next poll to report
  std::vector<int> unposted_;  // tickets of sends whose letters wait for room, in their order
  std::vector<Rank> full_;     // to whom there is no room now
  std::vector<int> awaited_;   // tickets of receives whose letters have not come, in their order
  std::vector<Source> sources_;
  std::vector<int> ticket_of_;  // ticket of the channel below -> ticket
  std::vector<int> moving_;     // tickets of messages with a pipe
  std::vector<int> ended_below_;
  int open_below_ = 0;  // messages of the channel below that have not ended
  unsigned idle_polls_ = 0;
  std::vector<std::byte> torn_;  // an element across the end of a ring
  std::unique_ptr<Channel> below_;
};

}  // namespace papfft::comm
