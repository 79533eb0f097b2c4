// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/io/npy.hpp"
#include "app/io/recording_file.hpp"
#include "app/io/sigmf.hpp"
#include "app/io/source.hpp"
#include "app/io/writer.hpp"
#include "app/report/bench_figures.hpp"
#include "app/report/decision_figures.hpp"
#include "app/report/input.hpp"
#include "app/report/trace_figures.hpp"
#include "comm/choose/decision_table.hpp"
#include "comm/record/arrival_trace.hpp"
#include "tests/fuzz/wire_targets.hpp"

/// What the fuzzers feed, also run on every file of the corpus by the unit tests. Each function takes any bytes; only the
/// promised exception may come out of the library, and what it accepts must keep its promises.
namespace papfft::fuzz {

using Bytes = std::span<const std::byte>;

inline std::unique_ptr<app::io::ByteInput> memory(Bytes bytes) {
  return app::io::memory_bytes("fuzz", {bytes.begin(), bytes.end()});
}

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void npy(Bytes bytes) {
  try {
    const auto header_input = memory(bytes);
    const app::io::NpyHeader header = app::io::read_npy_header(*header_input);
    require(header.data_offset + header.sample_count * header.type.sample_bytes() <= bytes.size());
    const auto source = app::io::open_npy(memory(bytes));
    const auto samples = app::io::read_all<std::complex<double>>(*source);
    require(samples.size() == header.sample_count);
    (void)app::io::count_non_finite(std::span(samples));
    // What we write of it describes the same array.
    const std::string rewritten = app::io::make_npy_header(header.type, header.shape);
    const std::string whole = rewritten + std::string(bytes.size(), '\0');
    const auto again_input = memory(std::as_bytes(std::span(whole)));
    const app::io::NpyHeader again = app::io::read_npy_header(*again_input);
    require(again.type == header.type && again.shape == header.shape &&
            again.data_offset == rewritten.size());
  } catch (const app::io::DataError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

inline void sigmf(Bytes bytes) {
  try {
    const app::io::SigmfMeta meta = app::io::parse_sigmf_meta("fuzz", text_of(bytes));
    require(app::io::raw_type_from(app::io::raw_type_name(meta.type)) == meta.type);
    require(meta.sample_rate_hz >= 0 && meta.dataset.find('/') == std::string::npos);
  } catch (const app::io::DataError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

/// A line with the names of a raw format and of an output file, then samples.
inline void raw(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t blank = std::min(line.find(' '), line.size());
  try {
    (void)app::io::format_of(std::string(line.substr(blank)));
  } catch (const app::io::OutputError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  (void)app::io::npy_type_from(line.substr(blank));
  const auto type = app::io::raw_type_from(line.substr(0, blank));
  if (!type) return;
  require(app::io::raw_type_name(*type) == line.substr(0, blank));
  try {
    const Bytes samples = bytes.subspan(std::min(line.size() + 1, bytes.size()));
    const auto source = app::io::open_raw(memory(samples), *type);
    require(app::io::read_all<std::complex<float>>(*source).size() * type->sample_bytes() == samples.size());
  } catch (const app::io::DataError&) {
  }
}

inline void sound(Bytes bytes) {
  try {
    const auto source = app::io::open_sound(memory(bytes), {});
    // A few bytes may stand for hours of silence: read some, then somewhere else.
    std::vector<double> block(4096);
    std::uint64_t first = 0;
    for (int i = 0; i < 8; ++i) {
      const std::size_t got = source->read(first, std::span(block));
      require(got <= block.size());
      first += got;
      if (got < block.size()) break;
    }
    (void)source->read(first / 2, std::span(block));
  } catch (const app::io::DataError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

inline void trace(Bytes bytes) {
  std::istringstream in{std::string(text_of(bytes))};
  try {
    const comm::ArrivalTrace trace = app::io::parse_trace(in);
    require(trace.iterations > 0 && trace.ranks > 0);
    require(trace.delay_ns.size() ==
            static_cast<std::size_t>(trace.iterations) * static_cast<std::size_t>(trace.ranks));
    require(std::ranges::all_of(trace.delay_ns, [](std::int64_t ns) { return ns >= 0; }));
  } catch (const comm::TraceError& error) {
    const std::string_view what = error.what();
    require(std::ranges::all_of(what, [](char c) { return c >= ' ' && c <= '~'; }));
  }
  // What we write of a recording is the same again.
  try {
    in.clear();
    in.seekg(0);
    const comm::ArrivalRecording recording = app::io::read_recording(in);
    std::ostringstream out;
    comm::write_recording(out, recording, {});
    std::istringstream again(out.str());
    require(comm::read_recording(again) == recording);
    std::istringstream as_json(app::io::to_json(recording).dump());
    require(app::io::read_recording(as_json) == recording);
  } catch (const comm::TraceError&) {
  }
}

/// What `papfft report` takes.
inline void report(Bytes bytes) {
  namespace report = app::report;
  constexpr std::int64_t kMostRanks = 64;  // so that a picture takes milliseconds
  const auto draw_all = [](const std::vector<report::Figure>& figures) {
    for (const report::Figure& figure : figures) require(!draw(figure, report::Format::svg).bytes.empty());
  };
  try {
    const auto input = report::parse_input("fuzz", std::string(text_of(bytes)));
    if (const auto* trace = std::get_if<report::Trace>(&input)) {
      require(!trace->ranks.empty() && !trace->slices.empty());
      if (std::ssize(trace->ranks) <= kMostRanks) draw_all(make_figures(*trace, "f"));
      return;
    }
    if (std::holds_alternative<report::Decisions>(input)) return;  // a target of its own
    const std::vector<report::BenchRun> runs = {std::get<report::BenchRun>(input)};
    require(!runs.front().rows.empty());
    const auto is_large = [](const report::BenchRow& row) { return row.ranks > kMostRanks; };
    if (std::ranges::any_of(runs.front().rows, is_large)) return;
    for (const report::RunGroup& group : report::group_runs(runs)) draw_all(make_figures(group, "f"));
  } catch (const app::io::DataError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

/// The tables that "auto" goes by.
inline void decisions(Bytes bytes) {
  using comm::DecisionTable;
  try {
    const DecisionTable table = DecisionTable::parse(text_of(bytes));
    const std::string text = table.text();
    require(DecisionTable::parse(text).text() == text);
    for (const DecisionTable::Row& row : table.rows()) {
      require(!row.ways.empty());
      for (const std::size_t size : {row.bytes / 2, row.bytes, row.bytes - row.bytes / 3}) {
        require(!table.ways(row.operation, size).empty());
      }
    }
    if (table.rows().size() > 64) return;  // so that a picture takes milliseconds
    const std::vector<app::report::Decisions> one = {
        app::report::parse_decisions("fuzz", std::string(text_of(bytes)))};
    require(!answer_of(one).empty());
    for (const app::report::Figure& figure : make_figures(one, "f")) {
      require(!draw(figure, app::report::Format::svg).bytes.empty());
    }
  } catch (const std::invalid_argument&) {
  } catch (const app::io::DataError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

struct Target {
  std::string_view name;  ///< also its folder in the corpus
  void (*run)(Bytes);
};
inline constexpr std::array kTargets = {Target{"npy", npy},
                                        Target{"sigmf", sigmf},
                                        Target{"raw", raw},
                                        Target{"sound", sound},
                                        Target{"trace", trace},
                                        Target{"report", report},
                                        Target{"decisions", decisions},
                                        Target{"wire", wire}};

}  // namespace papfft::fuzz
