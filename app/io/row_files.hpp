// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/io/atomic_file.hpp"
#include "app/io/writer.hpp"

namespace papfft::app::io {

/// What files say that can be resumed.
struct RowJournal {
  std::string content;  ///< what the rows depend on: lines of "name: value", each with its end
  std::string how;  ///< how rows are made from now on, in a few words: it may change when they are resumed
  std::chrono::milliseconds sync_every{2000};  ///< so often rows are brought to the disk, at least
};

/// .npy and raw files that grow row by row and appear when they are finished, as AtomicFile's do. How many rows there
/// will be need not be known before. Memory: less than a MiB per file.
///
/// Files that can be resumed grow under PATH.partial instead, beside PATH.journal, which says what they hold: a job that was
/// stopped, or killed, goes on from there when it is started again. The journal also says how many rows are surely on the disk, and since
/// which boot of the machine: if the power fails, or another machine goes on, all other rows are made again.
template <typename Sample>
class RowFiles {
 public:
  /// @param rows  nothing: not known before the end
  /// @param journal  nothing: cannot be resumed
  /// @throws OutputError  as AtomicFile; a format that cannot grow; a journal of other content is there
  RowFiles(const std::vector<std::string>& paths, std::uint64_t row_length, std::optional<std::uint64_t> rows,
           const std::optional<RowJournal>& journal);

  /// Whether these files can be written row by row.
  [[nodiscard]] static bool can_grow(const std::vector<std::string>& paths);

  /// That were there already; the next row to be written is this one.
  [[nodiscard]] std::uint64_t rows_before() const { return rows_before_; }
  /// How the last of these were made, if otherwise than `how` says now.
  [[nodiscard]] const std::optional<std::string>& made_otherwise() const { return made_otherwise_; }
  /// @param rows  so many, one after another in memory
  void write(const Sample* first, std::size_t rows = 1);
  /// So that they can be resumed: what was written is in the files.
  void flush();
  /// @return rows in each file. @throws OutputError  also if what was written directly, to a pipe, promised other rows
  std::uint64_t finish();

 private:
  struct File {
    std::string path;
    bool is_npy = false;
    std::unique_ptr<AtomicFile> file;
    std::vector<std::byte> waiting;
  };
  [[nodiscard]] std::string header(std::uint64_t rows) const;
  void resume(const RowJournal& journal);
  /// What an earlier job has left; empty: there is none that counts.
  [[nodiscard]] std::string read_journal(const RowJournal& journal);
  void flush(File& file);
  /// Brings all rows to the disk, and then writes a journal that says so.
  void sync();

  std::vector<File> files_;
  std::uint64_t row_length_;
  std::uint64_t rows_ = 0;
  std::uint64_t rows_before_ = 0;
  std::optional<std::uint64_t> promised_;
  std::string journal_path_;  // empty: cannot be resumed
  std::string history_;       // of the journal: its content, and how rows were made
  std::chrono::milliseconds sync_every_{};
  std::chrono::steady_clock::time_point synced_;
  std::optional<std::string> made_otherwise_;
};

}  // namespace papfft::app::io
