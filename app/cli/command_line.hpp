// SPDX-License-Identifier: MIT
// Commands, their options and --help, without CLI11's headers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace papfft::app::cli {

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  /// The value that the variable has now is the default that --help shows.
  Option* capture_default_str();
  Option* required();
  /// The environment variable that sets it, where the command line does not.
  Option* envname(const std::string& variable);
  /// The heading in --help.
  Option* group(const std::string& heading);
  /// In place of TEXT in --help.
  Option* type_name(const std::string& name);
  /// Of a list: "1,2" are two values.
  Option* delimiter(char between);
  /// It is followed by exactly so many words.
  Option* takes(int words);
  /// Of a list: each occurrence takes one value; the words after it are not its own.
  Option* one_value_each();

  Option* in_range(int least, int most);
  /// And finite: no bound of a range holds for "nan".
  Option* in_range(double least, double most);
  /// It takes one of a few words, or a list of them. --help names the words, and the shell's completion reads them there.
  /// @param old_words  it takes these as well, but neither --help nor an error names them
  Option* one_of(std::vector<std::string> words, std::vector<std::string> old_words = {});
  /// The same for a table of words.
  Option* one_of(std::span<const std::string_view> words);
  Option* finite();
  Option* positive();
  /// 0, 1, 2, ... as ranks are.
  Option* count_from_0();

  Option* excludes(const Option* other);
  Option* needs(const Option* other);

  /// How often it was given.
  [[nodiscard]] std::size_t count() const;
  /// "--threads"
  [[nodiscard]] std::string flag() const;
  /// The environment variable; may be empty.
  [[nodiscard]] std::string variable() const;
  /// What was given last, or the default.
  [[nodiscard]] std::string value_text() const;

 private:
  CLI::Option& option_;
};

/// The program or one of its commands.
class Command {
 public:
  using Action = std::function<int()>;

  /// A program.
  Command(const std::string& description, const std::string& name);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& description);
  /// @param names  "-o,--output", or "FILE" for one without dashes
  /// @param value  std::string, int, unsigned, std::int64_t, std::uint64_t, double, std::vector of them, or std::optional of a
  ///               number; must live as long as the program
  template <typename Value>
  Option* add_option(const std::string& names, Value& value, const std::string& description);
  Option* add_flag(const std::string& names, bool& value, const std::string& description);
  /// @param name  "--threads", of this command. @throws std::logic_error  it has none
  [[nodiscard]] Option* get_option(const std::string& name) const;
  [[nodiscard]] std::vector<const Option*> options() const;

  /// The heading in --help of the commands that are added to this one from now on.
  Command* group(const std::string& heading);
  /// What --help shows last.
  Command* footer(const std::string& text);
  /// It does nothing without one.
  Command* require_subcommand();
  /// Whatever follows the first word that is no option of its own; rest() has it.
  Command* takes_rest();
  [[nodiscard]] std::vector<std::string> rest() const;
  /// --help goes into rest(), too.
  Command* without_help();
  /// What the command does, once the whole line has been read; returns the exit code.
  Command* runs(Action action);

  /// Of the program: what --version says.
  void version(const std::string& text);
  /// Of the program, without its own name. @return what --help or --version say, if the words ask for that
  /// @throws UsageError
  [[nodiscard]] std::optional<std::string> parse(std::vector<std::string> words);
  /// The action of the command that parse() has found.
  [[nodiscard]] int run() const;

 private:
  struct State;
  explicit Command(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace papfft::app::cli
