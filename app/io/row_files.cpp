// SPDX-License-Identifier: MIT
#include "app/io/row_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include "app/io/npy.hpp"

namespace papfft::app::io {

namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 18;
/// So begin the journal's last lines: "from row 17: how".
constexpr const char* kFromRow = "\nfrom row ";

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
  if (!can_grow(paths)) throw OutputError(paths.front(), "only .npy and raw files can grow row by row");
  const auto kind = journal ? AtomicFile::Temporary::kept : AtomicFile::Temporary::nameless_if_possible;
  for (const std::string& path : paths) {
    files_.push_back(
        {path, format_of(path) == OutputFormat::npy, std::make_unique<AtomicFile>(path, kind), {}});
    const AtomicFile& file = *files_.back().file;
    if (journal && file.is_direct()) throw OutputError(path, "only a file can be resumed");
    if (files_.back().is_npy && file.is_direct() && !rows) {
      throw OutputError(
          path,
          "a .npy says at its beginning how many rows it has, and the input tells only at its end; what "
          "would work: a file, or raw samples");
    }
  }
  if (journal) resume(*journal);
  for (File& f : files_) {
    if (rows_before_ == 0 && f.is_npy) f.file->write(header(rows.value_or(0)));
  }
}

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
  const std::string text = stream.str();
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
  const std::uint64_t row_bytes = row_length_ * sizeof(Sample);
  const auto head_bytes = [&](const File& f) { return f.is_npy ? header(0).size() : std::size_t{0}; };
  std::string text = read_journal(journal);
  if (!text.empty()) {
    rows_before_ = promised_.value_or(~std::uint64_t{0});
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
  if (rows_before_ == 0) text = journal.content;
  const std::string last = last_how(text);
  if (last == journal.how) return;
  if (rows_before_ > 0) made_otherwise_ = last;
  // Only now: a job that is killed in between must not find an older job's rows under this one's journal.
  AtomicFile file(journal_path_);
  text.pop_back();  // the end of its last line, with which kFromRow begins
  file.write(fmt::format("{}{}{}: {}\n", text, kFromRow, rows_before_, journal.how));
  file.commit();
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
}

template <typename Sample>
void RowFiles<Sample>::flush(File& file) {
  file.file->write(file.waiting);
  file.waiting.clear();
}

template <typename Sample>
void RowFiles<Sample>::flush() {
  for (File& f : files_) flush(f);
}

template <typename Sample>
std::uint64_t RowFiles<Sample>::finish() {
  flush();
  for (File& f : files_) {
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
