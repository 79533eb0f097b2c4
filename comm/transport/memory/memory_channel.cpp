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

namespace {
/// A rank that waits for its host's ranks has the channel below moved on now and then: others may wait for what it does there.
constexpr unsigned kIdlePollsEach = 32;
}  // namespace

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
  for (const int ticket : unposted_) {
    const Message& m = message(ticket);
    pipes_->post_later(m.peer, m.header, enclosed_in(m));
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
  ++open_below_;
}

int MemoryChannel::isend(Rank target, int tag, std::span<const std::byte> data) {
  const int ticket = add({.peer = target, .tag = tag, .from = data, .bytes = data.size()});
  Message& m = message(ticket);
  if (!pipes_->is_near(target)) {
    track(m, below_->isend(target, tag, data));
    return ticket;
  }
  const bool is_short = pipes_->encloses(data.size());
  const std::optional<int> pipe = is_short ? std::nullopt : pipes_->take(target, data.size());
  post_or_wait(m, pipe.value_or(is_short ? LetterHead::kEnclosed : LetterHead::kFollows));
  if (pipe) {
    m.pipe = &pipes_->own(*pipe);
    (void)write(m);
    if (m.pipe != nullptr) moving_.push_back(ticket);
  } else if (!is_short) {
    track(m, below_->isend(target, m.header.rest_tag, data));
  }
  end_if_done(m);
  return ticket;
}

/// An answer to a message in shared memory would have to be sent. So a short message follows its letter over the channel below, which
/// does that. A long one is answered well enough: what does not fit into its pipe waits for the receiver.
int MemoryChannel::issend(Rank target, int tag, std::span<const std::byte> data) {
  const bool is_near = pipes_->is_near(target);
  if (is_near && !pipes_->encloses(data.size())) return isend(target, tag, data);
  const int ticket = add({.peer = target, .tag = tag, .from = data, .bytes = data.size()});
  Message& m = message(ticket);
  if (is_near) post_or_wait(m, LetterHead::kFollows);
  track(m, below_->issend(target, is_near ? m.header.rest_tag : tag, data));
  return ticket;
}

/// Sends what is left of a message over the channel below. @return the tag
int MemoryChannel::follow(Message& m) {
  const int tag = follow_tag(max_tag_, pipes_->next_follower());
  track(m, below_->isend(m.peer, tag, m.from));
  return tag;
}

std::span<const std::byte> MemoryChannel::enclosed_in(const Message& m) {
  return m.header.pipe == LetterHead::kEnclosed ? m.from : std::span<const std::byte>();
}

/// Letters to one rank leave in their order. @param way  as LetterHead::pipe
void MemoryChannel::post_or_wait(Message& m, int way) {
  m.header = {.bytes = m.bytes, .tag = m.tag, .pipe = way};
  if (way == LetterHead::kFollows) m.header.rest_tag = follow_tag(max_tag_, pipes_->next_follower());
  const bool waits =
      std::ranges::any_of(unposted_, [&](int ticket) { return message(ticket).peer == m.peer; });
  m.awaits_letter = waits || !pipes_->post(m.peer, m.header, enclosed_in(m));
  if (m.awaits_letter) unposted_.push_back(m.ticket);
}

bool MemoryChannel::post_waiting() {
  full_.clear();
  const auto is_posted = [&](int ticket) {
    Message& m = message(ticket);
    if (std::ranges::find(full_, m.peer) != full_.end()) return false;
    if (!pipes_->post(m.peer, m.header, enclosed_in(m))) {
      full_.push_back(m.peer);
      return false;
    }
    m.awaits_letter = false;
    end_if_done(m);
    return true;
  };
  return std::erase_if(unposted_, is_posted) > 0;
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
  if (!pipes_->is_near(m.peer)) {
    track(m, m.pieces == nullptr ? below_->irecv(m.peer, m.tag, m.to)
                                 : below_->irecv_pieces(m.peer, m.tag, m.bytes, *m.pieces, m.key));
    return ticket;
  }
  m.awaits_letter = true;
  awaited_.push_back(ticket);
  ++source(m.peer).awaited;
  return ticket;
}

MemoryChannel::Source& MemoryChannel::source(Rank rank) {
  const auto found = std::ranges::find(sources_, rank, &Source::rank);
  return found != sources_.end() ? *found : sources_.emplace_back(Source{rank});
}

bool MemoryChannel::take_letters() {
  bool any = false;
  for (const Source& from : sources_) {
    if (from.awaited == 0) continue;
    any = pipes_->collect(from.rank, *this) || any;
  }
  return any;
}

/// @return false: it is for another channel, or comes before its receive
bool MemoryChannel::take_letter(Rank from, const LetterHead& head, std::span<const std::byte> enclosed) {
  const auto found = std::ranges::find_if(awaited_, [&](int ticket) {
    const Message& m = message(ticket);
    return m.peer == from && m.tag == head.tag;
  });
  if (found == awaited_.end()) return false;
  Message& m = message(*found);
  awaited_.erase(found);
  --source(from).awaited;
  m.awaits_letter = false;
  m.header = head;
  if (head.bytes != m.bytes) {
    refuse(m, "got " + std::to_string(head.bytes) + " (do all ranks pass the same arguments?)");
  }
  if (head.pipe == LetterHead::kEnclosed) {
    read_enclosed(m, enclosed);
  } else {
    read_header(m);
  }
  end_if_done(m);
  return true;
}

void MemoryChannel::read_enclosed(Message& m, std::span<const std::byte> enclosed) {
  if (m.pieces != nullptr && m.bytes % m.pieces->unit_bytes() == 0 && m.bytes > 0) {
    return m.pieces->take(m.key, 0, enclosed);
  }
  if (m.pieces != nullptr) m.to = m.pieces->place(m.key);
  std::ranges::copy(enclosed, m.to.begin());
}

void MemoryChannel::read_header(Message& m) {
  if (m.header.pipe >= HostPipes::kPerRank) refuse(m, "there is no pipe " + std::to_string(m.header.pipe));
  const bool at_once = m.header.pipe < 0 || (m.pieces != nullptr && m.pieces->unit_bytes() > Pipe::kBytes);
  if (at_once && m.pieces != nullptr) {
    m.to = m.pieces->place(m.key);
    m.pieces = nullptr;
  }
  if (m.header.pipe < 0) return receive_rest(m, m.header.rest_tag);
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
  bool any = !unposted_.empty() && post_waiting();
  any = take_letters() || any;
  any = poll_below(!any && over_.empty()) || any;
  const auto has_moved_all = [&](int ticket) {
    Message& m = message(ticket);
    any = (m.is_receive ? read(m) : write(m)) || any;
    if (m.pipe != nullptr) return false;
    end_if_done(m);
    return true;
  };
  if (!moving_.empty()) std::erase_if(moving_, has_moved_all);
  any = any || !over_.empty();
  ended.insert(ended.end(), over_.begin(), over_.end());
  free_.insert(free_.end(), over_.begin(), over_.end());
  over_.clear();
  return any;
}

/// @param is_idle  nothing else has happened
bool MemoryChannel::poll_below(bool is_idle) {
  if (open_below_ == 0) {
    if (is_idle && ++idle_polls_ % kIdlePollsEach == 0) below_->move_on();
    return false;
  }
  ended_below_.clear();
  const bool any = below_->poll(ended_below_);
  // A letter may be followed by a message that gets one of these tickets again.
  for (int& ticket : ended_below_) ticket = ticket_of_[static_cast<std::size_t>(ticket)];
  open_below_ -= static_cast<int>(ended_below_.size());
  for (const int ticket : ended_below_) {
    Message& m = message(ticket);
    --m.below;
    end_if_done(m);
  }
  return any;
}

bool MemoryChannel::is_over(const Message& m) {
  return m.below == 0 && m.pipe == nullptr && !m.awaits_letter;
}

void MemoryChannel::end_if_done(Message& m) {
  if (!is_over(m)) return;
  if (!m.rest.empty()) {
    m.pieces->take(m.key, m.done, m.rest);
    m.rest.clear();
  }
  over_.push_back(m.ticket);
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
