// SPDX-License-Identifier: MIT
// A page of figures and tables in one file: no network, no scripts, no styles but its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace papfft::app::report {

/// Builds an HTML document from top to bottom. Every text is escaped, wherever it came from.
class Page {
 public:
  explicit Page(std::string title);

  /// @param anchor  letters, digits and '-'; goes to the table of contents
  void heading(std::string_view text, std::string_view anchor);
  void paragraph(std::string_view text);
  /// @param svg  a drawing of ours, taken as it is
  void figure(std::string_view anchor, std::string_view caption, std::string_view svg);
  /// Headings first; numbers flush right. `summary` not empty: folded away behind these words.
  void table(const std::vector<std::vector<std::string>>& rows, std::string_view summary = {});
  /// A link to another file beside the page.
  void link(std::string_view text, std::string_view relative_path);
  /// For programs: not shown. @param json  one document
  void data(std::string_view name, std::string_view json);

  [[nodiscard]] std::string finish() const;

 private:
  std::string title_;
  std::string contents_;
  std::string body_;
};

/// & < > " ' as entities; what is not UTF-8 or not printable becomes U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace papfft::app::report
