// SPDX-License-Identifier: MIT
#include "comm/mpi/decisions_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::comm {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1U << 20U;  // of a table

constexpr const char* kVariable = "PAPFFT_DECISIONS";
constexpr const char* kPrefix = "decisions-";

/// Folders, or the one file that is named.
std::vector<fs::path> search_places() {
  if (const char* named = std::getenv(kVariable); named != nullptr) {
    return std::string_view(named) == "off" ? std::vector<fs::path>{} : std::vector<fs::path>{named};
  }
  std::vector<fs::path> places;
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config != '\0') {
    places.push_back(fs::path(config) / "papfft");
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    places.push_back(fs::path(home) / ".config" / "papfft");
  }
  places.emplace_back("/etc/papfft");
  return places;
}

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw std::invalid_argument(path.string() + ": " + why);
}

/// @throws std::invalid_argument
std::string read_text(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) fail(path, "cannot be read");
  if (bytes > kMostBytes) fail(path, "is too long for a table of decisions");
  std::ostringstream text;
  if (bytes > 0 && !(text << std::ifstream(path, std::ios::binary).rdbuf())) fail(path, "cannot be read");
  return text.str();
}

DecisionTable parse_decisions(const fs::path& path, const std::string& text) {
  try {
    return DecisionTable::parse(text);
  } catch (const std::invalid_argument& e) {
    fail(path, e.what());
  }
}

/// @return empty  it is for another group @throws std::invalid_argument
std::string decisions_for(const GroupProfile& group, const fs::path& path, bool is_named) {
  std::string text = read_text(path);
  const GroupProfile measured = parse_decisions(path, text).group();
  if (is_named && measured.library != group.library)
    fail(path, "was measured with " + measured.library + ", and this is " + group.library);
  return measured == group ? text : std::string();
}

/// The links that were measured for a group like this one but for its size, on hosts with such names: they are the machine's. Of several
/// groups, that of the nearest size. Empty: there is none.
std::string links_for(const GroupProfile& group) {
  const auto distance = [&](const DecisionTable& table) {
    return std::abs(std::log(static_cast<double>(table.group().ranks) / group.ranks));
  };
  const std::string here = host_name_pattern();
  std::optional<DecisionTable> nearest;
  for (const fs::path& path : known_decisions()) {
    try {
      DecisionTable table = read_decisions(path);
      const bool fits = table.group().library == group.library &&
                        table.group().is_crowded == group.is_crowded && table.machine().hosts_named == here;
      if (fits && (!nearest || distance(table) < distance(*nearest))) nearest = std::move(table);
    } catch (const std::invalid_argument&) {
      // It is for another group, which is told.
    }
  }
  if (!nearest) return {};
  DecisionTable links(group);
  links.set_machine({.inside = nearest->machine().inside, .between = nearest->machine().between});
  return links.text();
}

struct Found {
  std::string text = {};
  std::string error = {};
};

Found find_decisions(const GroupProfile& group) {
  try {
    for (const fs::path& path : decisions_paths(group.ranks, group.hosts)) {
      std::error_code error;
      const char* named = std::getenv(kVariable);
      const bool is_named = named != nullptr && path == fs::path(named);
      if (!is_named && !fs::exists(path, error)) continue;
      if (std::string text = decisions_for(group, path, is_named); !text.empty()) return {std::move(text)};
    }
  } catch (const std::invalid_argument& e) {
    return {.error = e.what() +
                     std::string("; what would work: papfft tune --collectives, or PAPFFT_DECISIONS=off")};
  }
  return {links_for(group)};
}

}  // namespace

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PAPFFT_MPI(MPI_Get_library_version, text.data(), &length);
  std::string_view first(text.data());
  first = first.substr(0, first.find_first_of("\n,"));
  return std::string(first);
}

std::string host_name_pattern() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
  int length = 0;
  PAPFFT_MPI(MPI_Get_processor_name, text.data(), &length);
  return std::regex_replace(std::string(text.data()), std::regex("[0-9]+|\\s+"), "#");
}

std::vector<fs::path> decisions_paths(int ranks, int hosts) {
  std::vector<fs::path> paths;
  for (const fs::path& place : search_places()) {
    std::error_code error;
    const bool is_file = std::getenv(kVariable) != nullptr && !fs::is_directory(place, error);
    const std::string name = kPrefix + std::to_string(ranks) + "-on-" + std::to_string(hosts) + ".txt";
    paths.push_back(is_file ? place : place / name);
  }
  return paths;
}

std::vector<fs::path> known_decisions() {
  std::vector<fs::path> known;
  for (const fs::path& place : search_places()) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) known.push_back(place);
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
      if (entry.path().filename().string().starts_with(kPrefix)) known.push_back(entry.path());
    }
  }
  std::ranges::sort(known);
  return known;
}

DecisionTable read_decisions(const fs::path& path) { return parse_decisions(path, read_text(path)); }

std::string shared_decisions(MPI_Comm comm, const GroupProfile& group) {
  int rank = 0;
  PAPFFT_MPI(MPI_Comm_rank, comm, &rank);
  Found found;
  if (rank == 0) found = find_decisions(group);
  std::array<std::uint64_t, 2> sizes = {found.text.size(), found.error.size()};
  PAPFFT_MPI(MPI_Bcast, sizes.data(), 2, MPI_UINT64_T, 0, comm);
  for (std::string* text : {&found.text, &found.error}) {
    text->resize(sizes.at(text == &found.text ? 0 : 1));
    if (!text->empty())
      PAPFFT_MPI(MPI_Bcast, text->data(), static_cast<int>(text->size()), MPI_CHAR, 0, comm);
  }
  if (!found.error.empty()) throw std::invalid_argument(found.error);
  return found.text;
}

}  // namespace papfft::comm
