// SPDX-License-Identifier: MIT
#include "app/report/json_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "app/io/errors.hpp"

namespace papfft::app::report {
namespace {

constexpr int kDeepest = 32;  // our files nest five deep; a writer of JSON recurses
constexpr std::size_t kLongest = std::size_t{1} << 30;

/// Takes a document apart while it is being read.
class Reader {
 public:
  Reader(const std::string& path, const std::function<void(const Json&)>& trace_event)
      : path_(path), trace_event_(trace_event) {}

  /// As nlohmann's parser_callback_t: false gives the value up.
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) throw io::DataError(path_, fmt::format("nests more than {} deep", kDeepest));
    using Event = Json::parse_event_t;
    if (event == Event::key && depth == 1) in_events_ = parsed == "traceEvents";
    // An element: the object's own depth is that of the list that it is in, plus one.
    if (!in_events_ || depth != 2 ||
        (event != Event::object_end && event != Event::array_end && event != Event::value))
      return true;
    trace_event_(parsed);
    return false;
  }

 private:
  const std::string& path_;
  const std::function<void(const Json&)>& trace_event_;
  bool in_events_ = false;
};

}  // namespace

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw io::DataError(path, io::errno_text(EISDIR));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw io::DataError(path, io::errno_text(errno));
  std::string text;
  std::array<char, 1 << 16> part{};
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLongest) throw io::DataError(path, "is longer than any file of ours (1 GiB)");
  }
  if (in.bad()) throw io::DataError(path, "cannot be read");
  return text;
}

Json parse_json(const std::string& path, std::string_view text,
                const std::function<void(const Json&)>& trace_event) {
  try {
    return Json::parse(text, Reader(path, trace_event));
  } catch (const Json::parse_error& e) {
    throw io::DataError(
        path,
        fmt::format("is no JSON (at byte {}); what would work: the output of 'papfft bench ... --json', "
                    "'papfft simulate --json', 'papfft record' or --timeline",
                    e.byte));
  } catch (const Json::exception&) {  // a number out of range
    throw io::DataError(path, "is no JSON that can be used");
  }
}

}  // namespace papfft::app::report
