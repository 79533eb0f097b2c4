// SPDX-License-Identifier: MIT
#include "comm/schedule/core/print.hpp"

namespace papfft::comm {

namespace {

template <typename Range>
std::string joined(const Range& values, const char* separator) {
  std::string text;
  for (const int value : values) {
    if (!text.empty()) text += separator;
    text += std::to_string(value);
  }
  return text;
}

std::string range_text(BlockRange range, char open, char close) {
  return open + std::to_string(range.first) + "," + std::to_string(range.last) + close;
}

std::string to_json(const Op& op, std::span<const int> after) {
  std::string text = "{\"kind\":\"" + std::string(to_string(op.kind)) + "\",";
  text += is_local(op.kind) ? "\"from\":" + std::to_string(op.from) : "\"peer\":" + std::to_string(op.peer);
  text += ",\"blocks\":" + range_text(op.blocks, '[', ']') + ",\"round\":" + std::to_string(op.round);
  if (combines(op.kind)) text += std::string(",\"incoming_first\":") + (op.incoming_first ? "true" : "false");
  if (op.about.count() > 0) text += ",\"about\":" + range_text(op.about, '[', ']');
  if (op.announces) text += ",\"announces\":true";
  if (op.inside) text += ",\"inside\":true";
  if (op.credit != Credit::none) {
    text += std::string(",\"credit\":\"") + (op.credit == Credit::take ? "take" : "give") + "\"";
  }
  return text + ",\"after\":[" + joined(after, ",") + "]}";
}

}  // namespace

std::string describe(const Op& op) {
  std::string text(to_string(op.kind));
  if (is_local(op.kind)) {
    text += " " + std::to_string(op.from) + " =>";
  } else {
    text += (op.kind == OpKind::send ? " ->" : " <-") + std::to_string(op.peer);
  }
  text += op.blocks.count() == 0 ? " empty" : " " + range_text(op.blocks, '[', ')');
  if (op.about.count() > 0) text += " for " + range_text(op.about, '[', ')');
  if (op.incoming_first) text += " incoming first";
  if (op.announces) text += " announces";
  if (op.inside) text += " inside its host";
  if (op.credit != Credit::none) text += op.credit == Credit::take ? " takes a credit" : " gives it back";
  return text;
}

std::string to_text(const Schedule& schedule) {
  const Shape& shape = schedule.shape;
  std::string text = std::string(to_string(shape.operation)) + ": " + std::to_string(shape.ranks) + " ranks";
  if (is_rooted(shape.operation)) text += ", root " + std::to_string(shape.root);
  text += ", " + std::to_string(shape.blocks()) + " blocks";
  if (shape.credits > 0) text += ", " + std::to_string(shape.credits) + " credits";
  if (!shape.scratch.empty()) text += ", " + std::to_string(shape.scratch.size()) + " scratch slots";
  text += "\n";
  if (!shape.holder.empty()) text += "slots hold the blocks of ranks " + joined(shape.holder, " ") + "\n";
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    text += "rank " + std::to_string(r) + "\n";
    for (int i = 0; i < program.size(); ++i) {
      text += "  " + std::to_string(i) + "  round " + std::to_string(program[i].round) + "  " +
              describe(program[i]);
      if (!program.after(i).empty()) text += "  after {" + joined(program.after(i), " ") + "}";
      text += "\n";
    }
  }
  return text;
}

std::string to_json(const Schedule& schedule) {
  const Shape& shape = schedule.shape;
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  std::string text =
      "{\"operation\":\"" + std::string(to_string(shape.operation)) +
      "\",\"ranks\":" + std::to_string(shape.ranks) + ",\"root\":" + std::to_string(shape.root) +
      ",\"segments\":" + std::to_string(shape.segments) + ",\"holder\":[" + joined(shape.holder, ",") +
      "],\"scratch\":[" + joined(shape.scratch, ",") + "],\"credits\":" + std::to_string(shape.credits) +
      ",\"single_port\":" + flag(shape.single_port) + ",\"ordered\":" + flag(shape.ordered) +
      ",\"programs\":[";
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    text += r == 0 ? "[" : ",[";
    for (int i = 0; i < program.size(); ++i) {
      if (i > 0) text += ",";
      text += to_json(program[i], program.after(i));
    }
    text += "]";
  }
  return text + "]}\n";
}

}  // namespace papfft::comm
