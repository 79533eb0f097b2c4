// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/report/bench_run.hpp"
#include "app/report/json_file.hpp"

namespace papfft::app::report {

/// A row of a file, with errors that say where they are: all throw io::DataError.
class RowFields {
 public:
  RowFields(const std::string& file, std::size_t row, const Json& json);
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] double number(const char* name) const;
  [[nodiscard]] std::optional<double> optional_number(const char* name) const;
  [[nodiscard]] std::int64_t count(const char* name) const;
  [[nodiscard]] bool truth(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] Spread spread(const char* name, double unit_s) const;
  [[nodiscard]] std::vector<double> samples(const char* name, double unit_s) const;
  /// "calls": {"arrival_us": [[rank 0, rank 1, ...], ...], ...}; null where nothing was predicted.
  [[nodiscard]] std::optional<Calls> calls(std::size_t ranks) const;
  /// "messages": {"from": [...], "to": [...], "bytes": [...], "begin_ns": [...], ..., "arrival_ns": [one per rank], ...}.
  [[nodiscard]] std::optional<Messages> messages(std::size_t ranks) const;
  [[nodiscard]] bool lacks(const char* summary, const char* key) const;

 private:
  [[nodiscard]] double number_in(const Json& object, const char* name, const std::string& of) const;

  const std::string& file_;
  std::size_t row_;
  const Json& json_;
};

/// Adds a row of a file of this kind: one of ours, or two where the file has two things side by side.
void add_row(BenchKind kind, const RowFields& fields, std::vector<BenchRow>& rows);

/// What `papfft record` wrote: a row per algorithm and size. @throws io::DataError
[[nodiscard]] std::vector<BenchRow> recorded_rows(const std::string& file, const Json& document);

}  // namespace papfft::app::report
