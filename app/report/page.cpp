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
    "margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.7rem}h2{font-size:1.3rem;margin-top:3rem;border-top:1px solid #ddd;padding-top:1rem}"
    "figure{margin:1.5rem 0;border:1px solid #ddd}figcaption{font-weight:bold;padding:.5rem "
    ".8rem;background:#f6f6f6}"
    "figure>svg{display:block;width:100%;height:auto}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;font-size:.85rem}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
    "th{border-bottom:2px solid #4d4d4d}.n{text-align:right;white-space:nowrap}summary{cursor:pointer}"
    "a{color:#0072b2}@media print{details>*{display:block}h2{break-after:avoid}figure{break-inside:avoid}}";

/// Of kStyle, for the policy; a test computes it anew. (echo -n STYLE | openssl dgst -sha256 -binary | base64)
constexpr std::string_view kStyleHash = "zgJroOixlzqQJyQmzol3LpQ19Umh3uOdrnicg+sraEk=";

bool is_number(std::string_view text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text.front())) != 0 || text == "-");
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
  for (std::size_t i = 0; i < rows.size(); ++i) {
    body_ += "<tr>";
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      const bool numeric =
          rows.size() > 1 &&
          std::all_of(rows.begin() + 1, rows.end(), [&](const std::vector<std::string>& row) {
            return column < row.size() && is_number(row[column]);
          });
      body_ += fmt::format("<{0}{1}>{2}</{0}>", i == 0 ? "th" : "td", numeric ? " class=\"n\"" : "",
                           html_escaped(rows[i][column]));
    }
    body_ += "</tr>\n";
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
