// SPDX-License-Identifier: MIT
#include "app/report/row_fields.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <limits>

#include "app/io/errors.hpp"
#include "app/report/canvas.hpp"

namespace papfft::app::report {

RowFields::RowFields(const std::string& file, std::size_t row, const Json& json)
    : file_(file), row_(row), json_(json) {
  if (!json.is_object()) fail("is no object");
}

void RowFields::fail(const std::string& what) const {
  throw io::DataError(file_, fmt::format("row {} {}; what would work: the output of --json", row_ + 1, what));
}

bool RowFields::has(const char* name) const { return json_.contains(name) && !json_.at(name).is_null(); }

double RowFields::number(const char* name) const { return number_in(json_, name, ""); }

std::optional<double> RowFields::optional_number(const char* name) const {
  return has(name) ? std::optional(number(name)) : std::nullopt;
}

std::int64_t RowFields::count(const char* name) const {
  constexpr double kMost = 9e15;  // whole numbers up to here are exact
  const double value = number(name);
  if (!(value >= 0 && value <= kMost) || value != static_cast<double>(static_cast<std::int64_t>(value))) {
    fail(fmt::format("has no whole number '{}'", name));
  }
  return static_cast<std::int64_t>(value);
}

bool RowFields::truth(const char* name) const {
  if (!json_.at(name).is_boolean()) fail(fmt::format("has neither true nor false as '{}'", name));
  return json_.at(name).get<bool>();
}

std::string RowFields::text(const char* name) const {
  if (!has(name) || !json_.at(name).is_string()) fail(fmt::format("has no text '{}'", name));
  return clean_text(json_.at(name).get<std::string>());
}

Spread RowFields::spread(const char* name, double unit_s) const {
  if (!has(name) || !json_.at(name).is_object()) fail(fmt::format("has no summary '{}'", name));
  const Json& s = json_.at(name);
  const auto first_of = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (s.contains(key)) return number_in(s, key, name) * unit_s;
    }
    fail(fmt::format("has no '{}' in '{}'", *keys.begin(), name));
  };
  Spread spread{.center = first_of({"median", "mean"})};
  spread.low = s.contains("p10") || s.contains("min") ? first_of({"p10", "min"}) : spread.center;
  spread.high = s.contains("p90") || s.contains("max") ? first_of({"p90", "max"}) : spread.center;
  return spread;
}

std::vector<double> RowFields::samples(const char* name, double unit_s) const {
  std::vector<double> values;
  if (!has(name)) return values;
  if (!json_.at(name).is_array()) fail(fmt::format("has no list '{}'", name));
  for (const Json& value : json_.at(name)) {
    if (!value.is_number()) fail(fmt::format("has no numbers in '{}'", name));
    values.push_back(value.get<double>() * unit_s);
  }
  return values;
}

std::optional<Calls> RowFields::calls(std::size_t ranks) const {
  if (!has("calls")) return std::nullopt;
  const Json& json = json_.at("calls");
  const auto table = [&](const char* name, bool may_lack) {
    if (!json.is_object() || !json.contains(name) || !json.at(name).is_array())
      fail(fmt::format("has no list '{}' in 'calls'", name));
    std::vector<double> values;
    for (const Json& call : json.at(name)) {
      if (!call.is_array() || call.size() != ranks)
        fail(fmt::format("has not one value per rank in '{}' of 'calls'", name));
      for (const Json& value : call) {
        if (!value.is_number() && !(may_lack && value.is_null()))
          fail(fmt::format("has no numbers in '{}' of 'calls'", name));
        values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                         : value.get<double>() * 1e-6);
      }
    }
    return values;
  };
  Calls calls{table("arrival_us", false), table("exit_us", false), table("predicted_us", true)};
  if (calls.arrival_s.size() != calls.exit_s.size() || calls.arrival_s.size() != calls.predicted_s.size())
    fail("has lists of different lengths in 'calls'");
  if (calls.arrival_s.empty()) return std::nullopt;
  return calls;
}

std::optional<Messages> RowFields::messages(std::size_t ranks) const {
  if (!has("messages")) return std::nullopt;
  const Json& json = json_.at("messages");
  const auto list = [&](const char* name, double most) {
    if (!json.is_object() || !json.contains(name) || !json.at(name).is_array())
      fail(fmt::format("has no list '{}' in 'messages'", name));
    std::vector<double> values;
    for (const Json& value : json.at(name)) {
      if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= most))
        fail(fmt::format("has a number in '{}' of 'messages' that cannot be", name));
      values.push_back(value.get<double>());
    }
    return values;
  };
  constexpr double kMost = 9e15;
  const double last = static_cast<double>(ranks) - 1;
  const std::vector<double> from = list("from", last);
  const std::vector<double> to = list("to", last);
  const std::vector<double> bytes = list("bytes", kMost);
  const std::vector<double> begin = list("begin_ns", kMost);
  const std::vector<double> end = list("end_ns", kMost);
  const std::vector<double> combined = list("combined_ns", kMost);
  const std::vector<double> critical = list("critical", 1);
  Messages result{.arrival_s = list("arrival_ns", kMost), .exit_s = list("exit_ns", kMost)};
  for (const auto* other : {&to, &bytes, &begin, &end, &combined, &critical}) {
    if (other->size() != from.size()) fail("has lists of different lengths in 'messages'");
  }
  if (result.arrival_s.size() != ranks || result.exit_s.size() != ranks)
    fail("has not one arrival and exit per rank in 'messages'");
  if (json.contains("host")) {
    const std::vector<double> host = list("host", std::numeric_limits<int>::max());
    if (host.size() != ranks) fail("has not one host per rank in 'messages'");
    for (const double number : host) result.host.push_back(static_cast<int>(number));
  }
  for (std::vector<double>* times : {&result.arrival_s, &result.exit_s}) {
    for (double& t : *times) t *= 1e-9;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    result.messages.push_back({.from = static_cast<std::size_t>(from[i]),
                               .to = static_cast<std::size_t>(to[i]),
                               .bytes = static_cast<std::int64_t>(bytes[i]),
                               .begin_s = begin[i] * 1e-9,
                               .end_s = end[i] * 1e-9,
                               .combined_s = combined[i] * 1e-9,
                               .critical = critical[i] != 0});
  }
  return result;
}

bool RowFields::lacks(const char* summary, const char* key) const {
  return has(summary) && !json_.at(summary).contains(key);
}

double RowFields::number_in(const Json& object, const char* name, const std::string& of) const {
  if (!object.contains(name) || !object.at(name).is_number()) {
    fail(fmt::format("has no number '{}'{}", name, of.empty() ? "" : " in '" + of + "'"));
  }
  return object.at(name).get<double>();
}

}  // namespace papfft::app::report
