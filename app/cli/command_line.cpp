// SPDX-License-Identifier: MIT
// The only file that reads CLI11's headers.
#include "app/cli/command_line.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/cli/exit_code.hpp"

namespace papfft::app::cli {

namespace {

/// CLI::Range lets "nan" pass, and CLI::PositiveNumber says which numbers there are in 300 digits.
/// @param holds  what must be true of the value; @param what  it is then; @param shown  what --help says of it
template <typename Holds>
CLI::Validator number_that(Holds holds, const std::string& what, const std::string& shown = "") {
  return {[holds, what](std::string& text) {
            double value = 0;
            const bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && holds(value);
            return fits ? std::string() : "'" + text + "' is no " + what;
          },
          shown};
}

/// Letters to be replaced, added or left out to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = corner + (a[i] == b[j] ? 0 : 1);
      corner = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// " (did you mean X?)", if there is a word that looks like this one.
std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto nearest = std::ranges::min_element(known, {}, [&](const auto& k) { return distance(word, k); });
  constexpr std::size_t kLettersPerMistake = 3;
  if (nearest == known.end() || distance(word, *nearest) > word.size() / kLettersPerMistake) return "";
  return fmt::format(" (did you mean {}?)", *nearest);
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// " (from PAPFFT_X)", if what is wrong with the value of `flag` is nothing that was typed.
std::string origin(const CLI::App& app, const std::string& flag, const std::vector<std::string>& typed) {
  const CLI::Option* option = flag.starts_with("--") ? app.get_option_no_throw(flag) : nullptr;
  const bool is_typed = std::ranges::any_of(
      typed, [&](const auto& word) { return word == flag || word.starts_with(flag + "="); });
  if (option == nullptr || option->get_envname().empty() || is_typed) return "";
  return " (from " + option->get_envname() + ")";
}

/// What is wrong, and what would work. @param typed  the command line's words
std::string explain(const CLI::ParseError& error, const CLI::App& whole,
                    const std::vector<std::string>& typed) {
  const CLI::App* app = &whole;
  std::string command = app->get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  const auto unknown = app->remaining();
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (const auto known = commands_of(*app); is(CLI::ExitCodes::RequiredError) && !known.empty()) {
    if (unknown.empty())
      return fmt::format("which command of {}? known: {}", command, fmt::join(known, ", "));
    return fmt::format("no command '{}'{}; known: {}", unknown.front(), suggestion(unknown.front(), known),
                       fmt::join(known, ", "));
  }
  if (is(CLI::ExitCodes::ExtrasError) && !unknown.empty()) {
    const auto option = std::ranges::find_if(unknown, [](const auto& word) { return word.starts_with("-"); });
    if (option == unknown.end())
      return fmt::format("'{}' is one argument too many ({} --help shows how)", unknown.front(), command);
    const std::string word = option->substr(0, option->find('='));
    return fmt::format("no option {}{}; {} --help shows all", word, suggestion(word, options_of(*app)),
                       command);
  }
  const std::string what = error.what();
  const std::string flag = what.substr(0, what.find(':'));
  if (is(CLI::ExitCodes::ArgumentMismatch) && what.ends_with(" missing"))
    return fmt::format("{} needs a value ({} --help shows how)", flag, command);
  return fmt::format("{}{}{} ({} --help shows how)", flag, origin(*app, flag, typed),
                     what.substr(flag.size()), command);
}

}  // namespace

Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}

Option* Option::required() {
  option_.required();
  return this;
}

Option* Option::envname(const std::string& variable) {
  option_.envname(variable);
  return this;
}

Option* Option::group(const std::string& heading) {
  option_.group(heading);
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_.type_name(name);
  return this;
}

Option* Option::takes(int words) {
  option_.expected(words);
  return this;
}

Option* Option::delimiter(char between) {
  option_.delimiter(between);
  return this;
}

Option* Option::one_value_each() {
  option_.allow_extra_args(false);
  return this;
}

Option* Option::in_range(int least, int most) {
  option_.check(CLI::Range(least, most));
  return this;
}

Option* Option::in_range(double least, double most) {
  option_.check(number_that([least, most](double value) { return value >= least && value <= most; },
                            fmt::format("number from {} to {}", least, most),
                            CLI::Range(least, most).get_description()));
  return this;
}

Option* Option::one_of(std::vector<std::string> words, std::vector<std::string> old_words) {
  const CLI::Validator is_one = CLI::IsMember(std::move(words));
  option_.check(CLI::Validator(
      [is_one, old = std::move(old_words)](std::string& word) {
        return std::ranges::count(old, word) > 0 ? std::string() : is_one(word);
      },
      is_one.get_description()));
  return this;
}

Option* Option::one_of(std::span<const std::string_view> words) {
  return one_of(std::vector<std::string>(words.begin(), words.end()));
}

Option* Option::finite() {
  option_.check(number_that([](double) { return true; }, "finite number"));
  return this;
}

Option* Option::positive() {
  option_.check(number_that([](double value) { return value > 0; }, "positive number"));
  return this;
}

Option* Option::count_from_0() {
  option_.check(number_that([](double value) { return value >= 0 && value == std::floor(value); },
                            "number such as 0, 1, 2"));
  return this;
}

Option* Option::excludes(const Option* other) {
  option_.excludes(&other->option_);
  return this;
}

Option* Option::needs(const Option* other) {
  option_.needs(&other->option_);
  return this;
}

std::size_t Option::count() const { return option_.count(); }

std::string Option::flag() const {
  return option_.get_lnames().empty() ? option_.get_name() : "--" + option_.get_lnames().front();
}

std::string Option::variable() const { return option_.get_envname(); }

std::string Option::value_text() const {
  return count() > 0 ? option_.results().back() : option_.get_default_str();
}

struct Command::State {
  std::unique_ptr<CLI::App> program;  // only the program's own
  CLI::App* app = nullptr;
  const Action** chosen = nullptr;  // the program's
  const Action* chosen_here = nullptr;
  Action action;
  std::vector<std::unique_ptr<Option>> options;
  std::vector<std::unique_ptr<Command>> commands;

  Option* add(CLI::Option* option) { return options.emplace_back(std::make_unique<Option>(*option)).get(); }
};

Command::Command(const std::string& description, const std::string& name)
    : state_(std::make_unique<State>()) {
  state_->program = std::make_unique<CLI::App>(description, name);
  state_->app = state_->program.get();
  state_->chosen = &state_->chosen_here;
}

Command::Command(std::unique_ptr<State> state) : state_(std::move(state)) {}

Command::~Command() = default;

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  auto state = std::make_unique<State>();
  state->app = state_->app->add_subcommand(name, description);
  state->chosen = state_->chosen;
  state_->commands.push_back(std::unique_ptr<Command>(new Command(std::move(state))));
  return state_->commands.back().get();
}

namespace {

/// One of several values, or of one that may not be there.
template <typename Value>
struct Single {
  using Type = Value;
};
template <typename Value>
struct Single<std::vector<Value>> {
  using Type = Value;
};
template <typename Value>
struct Single<std::optional<Value>> {
  using Type = Value;
};

}  // namespace

template <typename Value>
Option* Command::add_option(const std::string& names, Value& value, const std::string& description) {
  CLI::Option* const option = state_->app->add_option(names, value, description);
  using Number = typename Single<Value>::Type;
  if constexpr (std::is_integral_v<Number>) {
    // CLI11 takes what is above all numbers of 64 bits for the largest of them.
    option->check([](const std::string& word) -> std::string {
      Number number = 0;
      const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
      return read.ec == std::errc::result_out_of_range ? word + " is too large" : "";
    });
  }
  return state_->add(option);
}

#define PAPFFT_OPTION_OF(...)                                                                     \
  template Option* Command::add_option<__VA_ARGS__>(const std::string& names, __VA_ARGS__& value, \
                                                    const std::string& description)
PAPFFT_OPTION_OF(std::string);
PAPFFT_OPTION_OF(int);
PAPFFT_OPTION_OF(unsigned);
PAPFFT_OPTION_OF(std::int64_t);
PAPFFT_OPTION_OF(std::uint64_t);
PAPFFT_OPTION_OF(double);
PAPFFT_OPTION_OF(std::optional<unsigned>);
PAPFFT_OPTION_OF(std::optional<std::uint64_t>);
PAPFFT_OPTION_OF(std::optional<double>);
PAPFFT_OPTION_OF(std::vector<std::string>);
PAPFFT_OPTION_OF(std::vector<int>);
PAPFFT_OPTION_OF(std::vector<std::int64_t>);
PAPFFT_OPTION_OF(std::vector<std::uint64_t>);
#undef PAPFFT_OPTION_OF

Option* Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return state_->add(state_->app->add_flag(names, value, description));
}

Option* Command::get_option(const std::string& name) const {
  const auto found =
      std::ranges::find_if(state_->options, [&](const auto& option) { return option->flag() == name; });
  if (found == state_->options.end()) throw std::logic_error("there is no option " + name);
  return found->get();
}

std::vector<const Option*> Command::options() const {
  std::vector<const Option*> all;
  for (const auto& option : state_->options) all.push_back(option.get());
  return all;
}

Command* Command::group(const std::string& heading) {
  state_->app->group(heading);
  return this;
}

Command* Command::footer(const std::string& text) {
  state_->app->footer(text);
  return this;
}

Command* Command::require_subcommand() {
  state_->app->require_subcommand(1);
  return this;
}

Command* Command::takes_rest() {
  state_->app->prefix_command();
  return this;
}

std::vector<std::string> Command::rest() const { return state_->app->remaining(); }

Command* Command::without_help() {
  state_->app->set_help_flag();
  return this;
}

Command* Command::runs(Action action) {
  state_->action = std::move(action);
  state_->app->callback([state = state_.get()] { *state->chosen = &state->action; });
  return this;
}

void Command::version(const std::string& text) { state_->app->set_version_flag("--version", text); }

std::optional<std::string> Command::parse(std::vector<std::string> words) {
  CLI::App& app = *state_->app;
  const std::vector<std::string> typed = words;
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    return std::nullopt;
  } catch (const CLI::Success& asked) {
    std::ostringstream shown;
    app.exit(asked, shown, shown);
    return shown.str();
  } catch (const CLI::ParseError& error) {
    throw UsageError(explain(error, app, typed));
  }
}

int Command::run() const { return (**state_->chosen)(); }

}  // namespace papfft::app::cli
