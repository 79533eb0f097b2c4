// SPDX-License-Identifier: MIT
#include "app/io/row_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

#include "app/io/npy.hpp"

namespace papfft::app::io {

namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 18;
/// So begin the journal's lines behind its content, "from row 17: how", and the last one, "on disk: 17 rows since boot ID".
constexpr const char* kFromRow = "\nfrom row ";
constexpr std::string_view kOnDisk = "\non disk: ";

/// Of this machine; another after each start of it. What was written since then is there, on the disk or not.
std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.empty() ? "unknown" : id;
}

/// How many rows a journal vouches for: all that are there, if this machine has run on since.
std::uint64_t rows_that_count(const std::string& journal) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const std::size_t line = journal.rfind(kOnDisk);
  if (line == std::string::npos) return 0;
  const std::string said = journal.substr(line + kOnDisk.size());
  const std::string id = boot();
  if (id != "unknown" && said.ends_with(" since boot " + id + "\n")) return kAll;
  std::uint64_t rows = 0;
  std::from_chars(said.data(), said.data() + said.size(), rows);
  return rows;
}

/// Of the last such line; empty: there is none.
std::string last_how(const std::string& journal) {
  const std::size_t line = journal.rfind(kFromRow);
  if (line == std::string::npos) return "";
  const std::size_t begin = std::min(journal.find(": ", line), journal.size() - 2) + 2;
  return journal.substr(begin, journal.find('\n', begin) - begin);
}

/// The first line in which two texts differ, of each, as it can be quoted.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a);
  std::istringstream lines_b(b);
  std::string line_a;
  std::string line_b;
  do {
    line_a.clear();
    line_b.clear();
    std::getline(lines_a, line_a);
    std::getline(lines_b, line_b);
  } while (line_a == line_b && (lines_a || lines_b));
  return {line_a, line_b};
}

}  // namespace

template <typename Sample>
bool RowFiles<Sample>::can_grow(const std::vector<std::string>& paths) {
  return std::ranges::all_of(paths, [](const std::string& path) {
    const OutputFormat format = format_of(path);
    return format == OutputFormat::npy || format == OutputFormat::raw;
  });
}

template <typename Sample>
RowFiles<Sample>::RowFiles(const std::vector<std::string>& paths, std::uint64_t row_length,
                           std::optional<std::uint64_t> rows, const std::optional<RowJournal>& journal)
    : row_length_(row_length), promised_(rows) {
  if (!can_grow(paths)) throw UnsuitableOutput(paths.front(), "only .npy and raw files can grow row by row");
  const auto kind = journal ? AtomicFile::Temporary::kept : AtomicFile::Temporary::nameless_if_possible;
  for (const std::string& path : paths) {
    files_.push_back(
        {path, format_of(path) == OutputFormat::npy, std::make_unique<AtomicFile>(path, kind), {}});
    const AtomicFile& file = *files_.back().file;
    if (journal && file.is_direct()) throw UnsuitableOutput(path, "only a file can be resumed");
    if (files_.back().is_npy && file.is_direct() && !rows) {
      throw UnsuitableOutput(
          path,
          "a .npy says at its beginning how many rows it has, and the input tells only at its end; what "
          "would work: a file, or raw samples");
    }
  }
  if (journal) resume(*journal);
  for (File& f : files_) {
    if (rows_before_ == 0 && f.is_npy) f.file->write(header(rows.value_or(0)));
  }
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): files_ owns them

/// As long whatever the number of rows.
template <typename Sample>
std::string RowFiles<Sample>::header(std::uint64_t rows) const {
  const std::array<std::uint64_t, 2> shape = {rows, row_length_};
  return make_npy_header(sample_type_of<Sample>(), shape);
}

template <typename Sample>
std::string RowFiles<Sample>::read_journal(const RowJournal& journal) {
  std::ifstream before(journal_path_);
  if (!before) return "";
  std::ostringstream stream;
  stream << before.rdbuf();
  std::string text = stream.str();
  const std::string content = text.substr(0, text.find(kFromRow)) + "\n";
  if (content == journal.content) return text;
  const auto [then, now] = first_difference(content, journal.content);
  throw OutputError(journal_path_,
                    fmt::format("this batch was begun with other options or input ({} then, {} now); what "
                                "would work: the same as then, or to remove this file",
                                then, now));
}

template <typename Sample>
void RowFiles<Sample>::resume(const RowJournal& journal) {
  journal_path_ = files_.front().path + ".journal";
  sync_every_ = journal.sync_every;
  const std::uint64_t row_bytes = row_length_ * sizeof(Sample);
  const auto head_bytes = [&](const File& f) { return f.is_npy ? header(0).size() : std::size_t{0}; };
  std::string text = read_journal(journal);
  if (!text.empty()) {
    rows_before_ = std::min(promised_.value_or(~std::uint64_t{0}), rows_that_count(text));
    for (const File& f : files_) {
      const std::uint64_t size = f.file->size();
      rows_before_ = std::min(rows_before_, size < head_bytes(f) ? 0 : (size - head_bytes(f)) / row_bytes);
    }
  }
  // Without a journal nobody knows what a partial file holds; of a row that was cut off nothing is kept.
  for (const File& f : files_) {
    f.file->truncate(rows_before_ > 0 ? head_bytes(f) + rows_before_ * row_bytes : 0);
  }
  rows_ = rows_before_;
  history_ = rows_before_ == 0 ? journal.content : text.substr(0, text.rfind(kOnDisk) + 1);
  const std::string last = last_how(history_);
  if (last != journal.how) {
    if (rows_before_ > 0) made_otherwise_ = last;
    history_ += fmt::format("{}{}: {}\n", kFromRow + 1, rows_before_, journal.how);
  }
  // Only now: a job that is killed in between must not find an older job's rows under this one's journal.
  sync();
}

template <typename Sample>
void RowFiles<Sample>::sync() {
  for (File& f : files_) {
    flush(f);
    f.file->sync();
  }
  AtomicFile file(journal_path_);
  file.write(fmt::format("{}{}{} rows since boot {}\n", history_, kOnDisk.substr(1), rows_, boot()));
  file.commit();
  synced_ = std::chrono::steady_clock::now();
}

template <typename Sample>
void RowFiles<Sample>::write(const Sample* first, std::size_t rows) {
  const auto bytes = std::as_bytes(std::span(first, rows * row_length_));
  for (File& f : files_) {
    if (f.waiting.empty() && bytes.size() >= kWrittenAtOnce) {
      f.file->write(bytes);
      continue;
    }
    f.waiting.insert(f.waiting.end(), bytes.begin(), bytes.end());
    // Whoever reads a pipe shall not wait for rows to come.
    if (f.waiting.size() >= kWrittenAtOnce || f.file->is_direct()) flush(f);
  }
  rows_ += rows;
  if (!journal_path_.empty() && std::chrono::steady_clock::now() - synced_ >= sync_every_) sync();
}

template <typename Sample>
void RowFiles<Sample>::flush(File& file) {
  file.file->write(file.waiting);
  file.waiting.clear();
}

template <typename Sample>
void RowFiles<Sample>::flush() {
  if (!journal_path_.empty()) return sync();
  for (File& f : files_) flush(f);
}

template <typename Sample>
std::uint64_t RowFiles<Sample>::finish() {
  for (File& f : files_) {
    flush(f);
    if (f.is_npy && promised_ != rows_) {
      if (f.file->is_direct()) {
        throw OutputError(f.path, fmt::format("its beginning, which is gone, promised {} rows, and it has {}",
                                              *promised_, rows_));
      }
      const std::string real_header = header(rows_);
      f.file->write_at(0, std::as_bytes(std::span<const char>(real_header)));
    }
    f.file->commit();
  }
  if (!journal_path_.empty()) ::unlink(journal_path_.c_str());
  return rows_;
}

template class RowFiles<float>;
template class RowFiles<double>;
template class RowFiles<std::complex<float>>;
template class RowFiles<std::complex<double>>;

}  // namespace papfft::app::io
