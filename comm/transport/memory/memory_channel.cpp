// SPDX-License-Identifier: MIT
#include "comm/transport/memory/memory_channel.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "comm/transport/tags.hpp"

namespace papfft::comm {

MemoryChannel::MemoryChannel(std::unique_ptr<Channel> below, std::shared_ptr<HostPipes> pipes, int max_tag)
    : pipes_(std::move(pipes)), max_tag_(max_tag), below_(std::move(below)) {
  below_->keep(messages_);
}

MemoryChannel::~MemoryChannel() {
  for (std::shared_ptr<const void>& memory : take_kept()) below_->keep(std::move(memory));
  for (const int ticket : moving_) {
    Message& m = message(ticket);
    if (m.pipe == nullptr) continue;  // another message of that poll was refused
    if (m.is_receive) {
      m.pipe->drop();
      continue;
    }
    try {
      m.pipe->leave(follow(m));
    } catch (const std::exception&) {
      // The channel below can send no more, so nobody waits for that.
    }
  }
}

int MemoryChannel::add(const Message& message) {
  if (free_.empty()) {
    free_.push_back(static_cast<int>(messages_->size()));
    messages_->emplace_back();
  }
  const int ticket = free_.back();
  free_.pop_back();
  this->message(ticket) = message;
  this->message(ticket).ticket = ticket;
  return ticket;
}

void MemoryChannel::track(Message& message, int ticket_below) {
  const auto at = static_cast<std::size_t>(ticket_below);
  if (ticket_of_.size() <= at) ticket_of_.resize(at + 1, -1);
  ticket_of_[at] = message.ticket;
  ++message.below;
}

int MemoryChannel::isend(Rank target, int tag, std::span<const std::byte> data) {
  const int ticket = add({.peer = target, .tag = tag, .from = data});
  Message& m = message(ticket);
  if (!pipes_->serves(target, data.size())) {
    track(m, below_->isend(target, tag, data));
    return ticket;
  }
  const std::optional<int> pipe = pipes_->take(target, data.size());
  m.header = {.bytes = data.size(), .pipe = pipe.value_or(-1)};
  if (!pipe) m.header.tag = follow(m);
  track(m, below_->isend(target, tag, std::as_bytes(std::span(&m.header, 1))));
  if (!pipe) return ticket;
  m.pipe = &pipes_->own(*pipe);
  (void)write(m);
  if (m.pipe != nullptr) moving_.push_back(ticket);
  return ticket;
}

/// Sends what is left of a message over the channel below. @return the tag
int MemoryChannel::follow(Message& m) {
  const int tag = follow_tag(max_tag_, pipes_->next_follower());
  track(m, below_->isend(m.peer, tag, m.from));
  return tag;
}

int MemoryChannel::issend(Rank target, int tag, std::span<const std::byte> data) {
  if (pipes_->serves(target, data.size())) return isend(target, tag, data);
  const int ticket = add({.peer = target, .tag = tag});
  track(message(ticket), below_->issend(target, tag, data));
  return ticket;
}

int MemoryChannel::irecv(Rank source, int tag, std::span<std::byte> data) {
  return receive({.peer = source, .tag = tag, .is_receive = true, .to = data, .bytes = data.size()});
}

int MemoryChannel::irecv_pieces(Rank source, int tag, std::size_t bytes, Pieces& pieces, int key) {
  return receive(
      {.peer = source, .tag = tag, .is_receive = true, .bytes = bytes, .pieces = &pieces, .key = key});
}

int MemoryChannel::receive(const Message& wanted) {
  const int ticket = add(wanted);
  Message& m = message(ticket);
  if (!pipes_->serves(m.peer, m.bytes)) {
    track(m, m.pieces == nullptr ? below_->irecv(m.peer, m.tag, m.to)
                                 : below_->irecv_pieces(m.peer, m.tag, m.bytes, *m.pieces, m.key));
    return ticket;
  }
  m.awaits_header = true;
  track(m, below_->irecv(m.peer, m.tag, std::as_writable_bytes(std::span(&m.header, 1))));
  return ticket;
}

void MemoryChannel::read_header(Message& m) {
  m.awaits_header = false;
  if (m.header.bytes != m.bytes) {
    refuse(m, "got " + std::to_string(m.header.bytes) + " (do all ranks pass the same arguments?)");
  }
  if (m.header.pipe >= HostPipes::kPerRank) refuse(m, "there is no pipe " + std::to_string(m.header.pipe));
  const bool at_once = m.header.pipe < 0 || (m.pieces != nullptr && m.pieces->unit_bytes() > Pipe::kBytes);
  if (at_once && m.pieces != nullptr) {
    m.to = m.pieces->place(m.key);
    m.pieces = nullptr;
  }
  if (m.header.pipe < 0) return receive_rest(m, m.header.tag);
  m.pipe = &pipes_->at(m.peer, m.header.pipe);
  moving_.push_back(m.ticket);
}

void MemoryChannel::refuse(const Message& m, const std::string& why) const {
  throw TransportError("rank " + std::to_string(pipes_->rank()) + " receiving " + std::to_string(m.bytes) +
                       " bytes from rank " + std::to_string(m.peer) + ": " + why);
}

/// What is missing of a message comes over the channel below.
void MemoryChannel::receive_rest(Message& m, int tag) {
  if (!is_follow_tag(max_tag_, tag)) refuse(m, "no message follows with tag " + std::to_string(tag));
  if (m.pieces == nullptr) {
    track(m, below_->irecv(m.peer, tag, m.to.subspan(m.done)));
    return;
  }
  m.rest.resize(m.bytes - m.done);
  const std::size_t torn = std::min(m.pipe->filled(), m.rest.size());  // of an element
  (void)m.pipe->copy(std::span(m.rest).first(torn));
  track(m, below_->irecv(m.peer, tag, std::span(m.rest).subspan(torn)));
}

bool MemoryChannel::poll(std::vector<int>& ended) {
  ended_below_.clear();
  bool any = below_->poll(ended_below_);
  // A header may be followed by a message that gets one of these tickets again.
  for (int& ticket : ended_below_) ticket = ticket_of_[static_cast<std::size_t>(ticket)];
  for (const int ticket : ended_below_) {
    Message& m = message(ticket);
    --m.below;
    if (m.awaits_header) read_header(m);
    end_if_done(m, ended);
  }
  const auto has_moved_all = [&](int ticket) {
    Message& m = message(ticket);
    any = (m.is_receive ? read(m) : write(m)) || any;
    if (m.pipe != nullptr) return false;
    end_if_done(m, ended);
    return true;
  };
  if (!moving_.empty()) std::erase_if(moving_, has_moved_all);
  return any;
}

void MemoryChannel::end_if_done(Message& m, std::vector<int>& ended) {
  if (m.below > 0 || m.pipe != nullptr) return;
  if (!m.rest.empty()) {
    m.pieces->take(m.key, m.done, m.rest);
    m.rest.clear();
  }
  ended.push_back(m.ticket);
  free_.push_back(m.ticket);
}

bool MemoryChannel::write(Message& m) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t written = m.pipe->write(m.from);
  if (written == 0) return false;
  m.writing += std::chrono::steady_clock::now() - begin;
  m.done += written;
  m.from = m.from.subspan(written);
  if (m.from.empty()) {
    m.pipe = nullptr;
    pipes_->wrote(m.peer, m.header.pipe, m.done, std::chrono::nanoseconds(m.writing).count());
  }
  return true;
}

bool MemoryChannel::read(Message& m) {
  const std::size_t before = m.done;
  const std::size_t unit = m.pieces == nullptr ? 1 : m.pieces->unit_bytes();
  const int rest_tag = m.pipe->rest_tag();  // before the bytes: what can be read then is all
  while (m.done < m.bytes) {
    std::span<const std::byte> piece = m.pipe->readable();
    piece = piece.first(std::min(piece.size(), m.bytes - m.done) / unit * unit);
    if (piece.empty()) {
      if (unit == 1) break;
      torn_.resize(unit);
      if (!m.pipe->copy(torn_)) break;
      piece = torn_;
    }
    if (m.pieces == nullptr) {
      std::memcpy(m.to.data() + m.done, piece.data(), piece.size());
    } else {
      m.pieces->take(m.key, m.done, piece);
    }
    m.done += piece.size();
    m.pipe->release(piece.size());
  }
  const bool any = m.done > before;
  if (m.done == m.bytes) {
    m.pipe = nullptr;
  } else if (rest_tag != Pipe::kWhole) {
    receive_rest(m, rest_tag);
    m.pipe->drop();
    m.pipe = nullptr;
  }
  return any;
}

}  // namespace papfft::comm
