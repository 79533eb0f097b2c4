// SPDX-License-Identifier: MIT
#include "fft/local/tuning.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "fft/kernel/instruction_set.hpp"

namespace papfft::fft {
namespace {

constexpr const char* kMagic = "papfft tuning";

/// FNV-1a: finds damage, not malice.
std::uint64_t checksum(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << value;
  return text.str();
}

/// For what the choices hold: the processor's model as Linux names it, the kernels it runs, this program's version.
const std::string& subject() {
  static const std::string text = [] {
    std::string processor;
    std::ifstream info("/proc/cpuinfo");
    std::set<std::string> seen;
    for (std::string line; std::getline(info, line);) {
      const std::string name = line.substr(0, line.find_last_not_of(" \t", line.find(':') - 1) + 1);
      for (const char* wanted : {"vendor_id", "cpu family", "model", "model name", "stepping", "CPU part"}) {
        if (name != wanted || !seen.insert(name).second) continue;
        processor += line.substr(std::min(line.find(':') + 1, line.size()));
      }
    }
    return "papfft " PAPFFT_VERSION ", " + std::string(to_string(instruction_sets().back())) + "," +
           (processor.empty() ? " unknown processor" : processor);
  }();
  return text;
}

std::filesystem::path cache_folder() {
  // "If an implementation encounters a relative path in any of these variables it should consider the path invalid and
  // ignore it." (XDG Base Directory Specification)
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') return cache;
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return std::filesystem::path(home) / ".cache";
  }
  return {};
}

std::optional<LocalKernel> parse_kernel(const std::string& name) {
  for (const LocalKernel kernel : {LocalKernel::fftw, LocalKernel::pieces, LocalKernel::own}) {
    if (name == to_string(kernel)) return kernel;
  }
  return std::nullopt;
}

std::optional<PlanKind> parse_kind(const std::string& name) {
  for (const PlanKind kind : {PlanKind::complex_forward, PlanKind::complex_inverse, PlanKind::real_forward,
                              PlanKind::real_inverse}) {
    if (name == to_string(kind)) return kind;
  }
  return std::nullopt;
}

/// As far as it goes, if it has been cut off.
bool begins_as_tuning(const std::filesystem::path& path) {
  std::string head(std::string_view(kMagic).size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return std::string_view(kMagic).starts_with(head);
}

/// "wisdom PRECISION BYTES", a newline and so many bytes.
void write_wisdom(std::ostream& out, const char* precision, const std::string& wisdom) {
  out << "wisdom " << precision << ' ' << wisdom.size() << '\n' << wisdom << '\n';
}

}  // namespace

std::filesystem::path Tuning::default_path() {
  if (const char* path = std::getenv("PAPFFT_TUNING"); path != nullptr && *path != '\0') {
    return std::string(path) == "off" ? std::filesystem::path() : std::filesystem::path(path);
  }
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "papfft" / ("tuning-" + hexadecimal(checksum(subject())));
}

Tuning& Tuning::user() {
  static Tuning tuning = read(default_path()).value_or(Tuning{});
  return tuning;
}

const Tuning& Tuning::of_user() { return user(); }

std::optional<Tuning> Tuning::read(const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // which, unlike an iterator, does not throw when the file cannot be read
  return text ? parse(std::move(text).str()) : std::nullopt;
}

std::optional<Tuning> Tuning::parse(std::string text) {
  // The last line is the checksum of all before it.
  constexpr std::size_t kSumLine = 17;
  if (text.size() < kSumLine || text.back() != '\n') return std::nullopt;
  const std::string sum = text.substr(text.size() - kSumLine, kSumLine - 1);
  text.resize(text.size() - kSumLine);
  if (sum != hexadecimal(checksum(text))) return std::nullopt;
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kMagic || !std::getline(lines, line) || line != subject()) {
    return std::nullopt;
  }
  Tuning tuning;
  std::map<std::string, std::string> wisdom;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first;
    std::string precision;
    words >> first >> precision;
    if (precision != "float" && precision != "double") return std::nullopt;
    if (first == "wisdom") {
      std::size_t bytes = 0;
      if (!(words >> bytes) || bytes > text.size()) return std::nullopt;
      std::string& content = wisdom[precision];
      content.resize(bytes);
      lines.read(content.data(), static_cast<std::streamsize>(bytes));
      if (!lines || lines.get() != '\n') return std::nullopt;
      continue;
    }
    std::string kind;
    std::string kernel;
    std::size_t length = 0;
    words >> kind >> length >> kernel;
    const auto parsed_kind = parse_kind(kind);
    const auto parsed_kernel = parse_kernel(kernel);
    if (first != "kernel" || !words || !parsed_kind || !parsed_kernel) return std::nullopt;
    tuning.set({precision, *parsed_kind, length}, *parsed_kernel);
  }
  try {
    if (wisdom.contains("float")) import_wisdom<float>(wisdom["float"]);
    if (wisdom.contains("double")) import_wisdom<double>(wisdom["double"]);
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // of another version of FFTW
  }
  return tuning;
}

std::string Tuning::text() const {
  std::ostringstream out;
  out << kMagic << '\n' << subject() << '\n';
  for (const auto& [key, kernel] : kernels_) {
    out << "kernel " << key.precision << ' ' << to_string(key.kind) << ' ' << key.length << ' '
        << to_string(kernel) << '\n';
  }
  write_wisdom(out, "float", export_wisdom<float>());
  write_wisdom(out, "double", export_wisdom<double>());
  const std::string text = out.str();
  return text + hexadecimal(checksum(text)) + '\n';
}

void Tuning::write(const std::filesystem::path& path) const {
  const auto fail = [&](const std::string& why) { throw std::runtime_error(why); };
  std::error_code error;
  // It is replaced by a new file: that must not happen to a device, nor to what somebody else has written.
  if (std::filesystem::exists(path, error)) {
    if (!std::filesystem::is_regular_file(path, error)) fail("is no regular file");
    if (!begins_as_tuning(path)) fail("holds something else; what would work: another name");
  }
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) fail(error.message());
  // A name of its own for each writer, in the same folder, so that readers see one file or the other, but never a part.
  std::filesystem::path temporary = path;
  temporary += "." + std::to_string(::getpid()) + ".tmp";
  {
    // "x": where others may write, no link that waits under this name is followed.
    std::filesystem::remove(temporary, error);
    std::FILE* const file = std::fopen(temporary.c_str(), "wbxe");
    if (file == nullptr) fail(std::strerror(errno));
    const std::string content = text();
    const bool is_written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    if (std::fclose(file) != 0 || !is_written) {
      const int reason = errno;
      std::filesystem::remove(temporary, error);
      fail(std::strerror(reason));
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    const std::string why = error.message();
    std::filesystem::remove(temporary, error);
    fail(why);
  }
}

std::optional<LocalKernel> Tuning::find(const Key& key) const {
  const auto entry = kernels_.find(key);
  return entry == kernels_.end() ? std::nullopt : std::optional(entry->second);
}

}  // namespace papfft::fft
