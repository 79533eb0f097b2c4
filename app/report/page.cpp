// SPDX-License-Identifier: MIT
#include "app/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/report/canvas.hpp"

namespace papfft::app::report {
namespace {

constexpr std::string_view kStyle =
    "body{font:16px/1.45 'DejaVu Sans',Verdana,sans-serif;color:#262626;background:#fff;max-width:62rem;"
    "margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
    "h1{font-size:1.7rem}h2{font-size:1.3rem;margin-top:3rem;border-top:1px solid #ddd;padding-top:1rem}"
    "figure{margin:1.5rem 0;border:1px solid #ddd;overflow-x:auto}"
    "figcaption{font-weight:bold;padding:.5rem .8rem;background:#f6f6f6;position:sticky;left:0}"
    "figure>svg{display:block;width:100%;min-width:40rem;height:auto}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;margin:1rem "
    "0;font-size:.85rem;overflow-wrap:normal}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
    "th{border-bottom:2px solid #4d4d4d}.n{text-align:right;white-space:nowrap}summary{cursor:pointer}"
    "a{color:#0072b2}"
    "@media screen and "
    "(prefers-color-scheme:dark){:root{color-scheme:dark}body{color:#e6e6e6;background:#1a1a1a}"
    "h2,figure,th,td{border-color:#4d4d4d}th{border-bottom-color:#b3b3b3}figcaption{background:#2b2b2b}"
    "a{color:#56b4e9}}"
    "@media print{body{margin:0;max-width:none;padding:0}h2{break-after:avoid}figure,tr{break-inside:avoid}"
    "figure,.scroll{overflow:visible}figure>svg{min-width:0}table{font-size:.65rem}thead{display:table-"
    "header-group}"
    "details::details-content{content-visibility:visible;block-size:auto}}";

/// Of kStyle, for the policy; a test computes it anew. (echo -n STYLE | openssl dgst -sha256 -binary | base64)
constexpr std::string_view kStyleHash = "Ob2qovdCIDHZW9bF0agCh0KdjS4aPfodLoLhMez//dU=";

/// "8", "8 MiB", "0.5 .. 0.7", or "-" in place of one; not "8 ranks: a / b".
bool is_number(std::string_view text) {
  const bool has_words =
      std::count(text.begin(), text.end(), ' ') > 1 && text.find(" .. ") == std::string_view::npos;
  return text == "-" ||
         (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 && !has_words);
}

}  // namespace

std::string html_escaped(std::string_view text) { return escaped_markup(clean_text(text)); }

Page::Page(std::string title) : title_(std::move(title)) {}

void Page::heading(std::string_view text, std::string_view anchor) {
  contents_ += fmt::format("<li><a href=\"#{0}\">{1}</a></li>\n", html_escaped(anchor), html_escaped(text));
  body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", html_escaped(anchor), html_escaped(text));
}

void Page::paragraph(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", html_escaped(text)); }

void Page::figure(std::string_view anchor, std::string_view caption, std::string_view svg) {
  body_ += fmt::format("<figure id=\"{}\">\n<figcaption>{}</figcaption>\n{}</figure>\n", html_escaped(anchor),
                       html_escaped(caption), svg);
}

void Page::table(const std::vector<std::vector<std::string>>& rows, std::string_view summary) {
  if (!summary.empty()) body_ += fmt::format("<details>\n<summary>{}</summary>\n", html_escaped(summary));
  body_ += "<div class=\"scroll\"><table>\n";
  const auto is_numeric = [&](std::size_t column) {
    return rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
             return column < row.size() && is_number(row[column]);
           });
  };
  std::vector<bool> numeric;
  for (std::size_t column = 0; !rows.empty() && column < rows.front().size(); ++column)
    numeric.push_back(is_numeric(column));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    body_ += i == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      body_ += fmt::format("<{0}{1}>{2}</{0}>", i == 0 ? "th" : "td",
                           column < numeric.size() && numeric[column] ? " class=\"n\"" : "",
                           html_escaped(rows[i][column]));
    }
    body_ += i == 0 ? "</tr></thead>\n" : "</tr>\n";
  }
  body_ += "</table></div>\n";
  if (!summary.empty()) body_ += "</details>\n";
}

void Page::link(std::string_view text, std::string_view relative_path) {
  // "./" keeps a name like "javascript:x" from being taken for a scheme.
  body_ += fmt::format("<p><a href=\"./{}\">{}</a></p>\n", html_escaped(relative_path), html_escaped(text));
}

void Page::data(std::string_view name, std::string_view json) {
  // In JSON these stand only within strings; as escapes they can neither end the element nor begin another.
  std::string safe;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      safe += c;
  }
  body_ += fmt::format("<script type=\"application/json\" data-file=\"{}\">{}</script>\n", html_escaped(name),
                       safe);
}

std::string Page::finish() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'sha256-{0}'; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{1}</title>\n<style>{2}</style>\n</head>\n<body>\n<h1>{1}</h1>\n{3}{4}</body>\n</html>\n",
      kStyleHash, html_escaped(title_), kStyle,
      contents_.empty() ? "" : "<nav><ul>\n" + contents_ + "</ul></nav>\n", body_);
}

}  // namespace papfft::app::report
