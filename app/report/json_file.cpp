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

/// Takes the list "traceEvents" out of a document while it is being read.
class EventReader final : public Json::Reader {
 public:
  explicit EventReader(const std::function<void(const Json&)>& trace_event) : trace_event_(trace_event) {}

  [[nodiscard]] bool keeps_element(std::string_view list, const Json& element) override {
    if (list != "traceEvents") return true;
    trace_event_(element);
    return false;
  }

 private:
  const std::function<void(const Json&)>& trace_event_;
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
    EventReader reader(trace_event);
    return Json::parse(text, reader, kDeepest);
  } catch (const io::JsonError& e) {
    if (e.kind() == io::JsonError::Kind::depth)
      throw io::DataError(path, fmt::format("nests more than {} deep", kDeepest));
    if (e.kind() != io::JsonError::Kind::syntax) throw io::DataError(path, "is no JSON that can be used");
    throw io::DataError(
        path,
        fmt::format("is no JSON (at byte {}); what would work: the output of 'papfft bench ... --json', "
                    "'papfft simulate --json', 'papfft record' or --timeline",
                    e.byte()));
  }
}

}  // namespace papfft::app::report
