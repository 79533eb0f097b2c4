// SPDX-License-Identifier: MIT
// The only file that reads nlohmann's header. Its lexer and its rules for numbers and texts are used, its values are not.
#include "app/io/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace papfft::app::io {

namespace {

const char* name_of(Json::Type type) {
  switch (type) {
    case Json::Type::null:
      return "null";
    case Json::Type::boolean:
      return "boolean";
    case Json::Type::integer:
    case Json::Type::natural:
    case Json::Type::real:
      return "number";
    case Json::Type::text:
      return "string";
    case Json::Type::array:
      return "array";
    case Json::Type::object:
      return "object";
  }
  return "?";
}

void append_quoted(std::string& out, const std::string& text) {
  const bool plain =
      std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
  } else {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

template <typename Number>
void append_whole(std::string& out, Number value) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void append_real(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 64> digits{};
  out.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

void append_scalar(std::string& out, const Json& value) {
  switch (value.type()) {
    case Json::Type::boolean:
      out += value.get<bool>() ? "true" : "false";
      break;
    case Json::Type::integer:
      append_whole(out, value.get<std::int64_t>());
      break;
    case Json::Type::natural:
      append_whole(out, value.get<std::uint64_t>());
      break;
    case Json::Type::real:
      append_real(out, value.get<double>());
      break;
    case Json::Type::text:
      append_quoted(out, value.text());
      break;
    default:
      out += "null";
  }
}

/// Writes a document as nlohmann does.
class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& value, int level) {
    if (value.is_object()) {
      write_all(value.items(), '{', '}', level, [&](const auto& member) {
        append_quoted(out_, member.first);
        out_ += indent_ < 0 ? ":" : ": ";
        write(member.second, level + 1);
      });
    } else if (value.is_array()) {
      write_all(value, '[', ']', level, [&](const Json& element) { write(element, level + 1); });
    } else {
      append_scalar(out_, value);
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  template <typename Range, typename Write>
  void write_all(const Range& range, char open, char close, int level, Write write_one) {
    out_ += open;
    bool first = true;
    for (auto i = range.begin(); !(i == range.end()); ++i) {
      if (!std::exchange(first, false)) out_ += ',';
      new_line(level + 1);
      write_one(*i);
    }
    if (!first) new_line(level);
    out_ += close;
  }

  void new_line(int level) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(level), ' ');
  }

  int indent_;
  std::string out_;
};

/// nlohmann's words without "[json.exception.parse_error.101] ".
std::string plain_message(const std::exception& error) {
  const std::string what = error.what();
  const std::size_t end = what.find("] ");
  return end == std::string::npos ? what : what.substr(end + 2);
}

Json::Reader& keeping_all() {
  static Json::Reader reader;
  return reader;
}

}  // namespace

/// Makes a document of what nlohmann's lexer finds (its interface of events).
class JsonBuilder {
 public:
  JsonBuilder(Json::Reader& reader, int deepest) : reader_(reader), deepest_(deepest) {}

  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() { return scalar(Json()); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(std::int64_t value) { return scalar(value); }
  bool number_unsigned(std::uint64_t value) { return scalar(value); }
  bool number_float(double value, const std::string& /*text*/) { return scalar(value); }
  bool string(std::string& value) { return left_out_ > 0 || scalar(std::move(value)); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // not in texts
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    if (left_out_ > 0) return true;
    if (open_.size() == 1) {
      member_ = name;
      left_out_ = reader_.keeps_member(name) ? 0 : 1;
      if (left_out_ > 0) return true;
    }
    slot_ = &(*open_.back())[name];
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    const bool syntax = dynamic_cast<const nlohmann::detail::parse_error*>(&error) != nullptr;
    throw JsonError(syntax ? JsonError::Kind::syntax : JsonError::Kind::number, plain_message(error),
                    position);
  }

 private:
  /// Where the value belongs.
  Json& place(Json value) {
    Json* placed = &root_;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back()->is_object()) {
      *slot_ = std::move(value);
      placed = slot_;
    } else {
      open_.back()->push_back(std::move(value));
      placed = &open_.back()->array_->back();
    }
    return *placed;
  }

  bool scalar(Json value) {
    if (left_out_ > 0) {
      if (left_out_ == 1) left_out_ = 0;  // the member's value was no more than that
      return true;
    }
    place(std::move(value));
    show_element();
    return true;
  }

  bool open(Json value) {
    if (depth_++ >= deepest_) {
      throw JsonError(JsonError::Kind::depth, "nests more than " + std::to_string(deepest_) + " deep");
    }
    if (left_out_ > 0) {
      ++left_out_;
    } else {
      open_.push_back(&place(std::move(value)));
    }
    return true;
  }

  bool close() {
    --depth_;
    if (left_out_ > 0) {
      if (--left_out_ == 1) left_out_ = 0;
      return true;
    }
    open_.pop_back();
    show_element();
    return true;
  }

  /// If an element of a list of the outermost object has just ended, the reader decides on it.
  void show_element() {
    if (open_.size() != 2 || !root_.is_object() || !open_.back()->is_array()) return;
    std::vector<Json>& list = *open_.back()->array_;
    if (!reader_.keeps_element(member_, list.back())) list.pop_back();
  }

  Json::Reader& reader_;
  int deepest_;
  int depth_ = 0;
  int left_out_ =
      0;  // 1: the value that comes next; more: that many less one arrays and objects are open in it
  Json root_;
  std::vector<Json*> open_;  // arrays and objects; none of them moves while one inside it is open
  Json* slot_ = nullptr;     // of the member whose value comes next
  std::string member_;       // of the outermost object
};

Json::Json(std::string value) : type_(Type::text), text_(new std::string(std::move(value))) {}

Json::Json(std::initializer_list<Item> items) : Json() {
  if (std::ranges::all_of(items, [](const Item& item) { return item.is_member(); })) {
    *this = object();
    for (const Item& item : items) {
      Json member = item.take();
      Json& name = (*member.array_)[0];
      add(std::move(*name.text_)) = std::move((*member.array_)[1]);
    }
  } else {
    *this = array(items);
  }
}

Json::Json(const Json& other) : Json() {
  switch (other.type_) {
    case Type::text:
      text_ = new std::string(*other.text_);
      break;
    case Type::array:
      array_ = new std::vector<Json>(*other.array_);
      break;
    case Type::object:
      object_ = new Object(*other.object_);
      break;
    default:
      natural_ = other.natural_;
  }
  type_ = other.type_;
}

void Json::destroy() noexcept {
  if (type_ == Type::text) delete text_;
  if (type_ == Type::array) delete array_;
  if (type_ == Type::object) delete object_;
}

Json Json::array() {
  Json json;
  json.array_ = new std::vector<Json>();
  json.type_ = Type::array;
  return json;
}

Json Json::array(std::initializer_list<Item> items) {
  Json json = array();
  json.array_->reserve(items.size());
  for (const Item& item : items) json.array_->push_back(item.take());
  return json;
}

Json Json::object() {
  Json json;
  json.object_ = new Object();
  json.type_ = Type::object;
  return json;
}

Json Json::object(std::initializer_list<Item> items) {
  Json json(items);
  if (!json.is_object()) json.fail_type("object");
  return json;
}

Json Json::parse(std::string_view text, int deepest) { return parse(text, keeping_all(), deepest); }

Json Json::parse(std::string_view text, Reader& reader, int deepest) {
  JsonBuilder builder(reader, deepest);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*this, 0);
  return writer.take();
}

void Json::fail_type(const char* wanted) const {
  throw JsonError(JsonError::Kind::access,
                  "type must be " + std::string(wanted) + ", but is " + name_of(type_));
}

const std::string& Json::text() const {
  if (!is_string()) fail_type("string");
  return *text_;
}

bool Json::boolean() const {
  if (!is_boolean()) fail_type("boolean");
  return natural_ != 0;
}

std::int64_t Json::integer() const {
  constexpr double kPastMost = 9223372036854775808.0;
  if (type_ == Type::integer) return integer_;
  if (type_ == Type::natural) return static_cast<std::int64_t>(natural_);
  if (type_ != Type::real) fail_type("number");
  if (!(real_ >= -kPastMost && real_ < kPastMost)) fail_type("whole number");
  return static_cast<std::int64_t>(real_);
}

std::uint64_t Json::natural() const {
  constexpr double kPastMost = 18446744073709551616.0;
  if (type_ == Type::real && real_ >= 0) {
    if (!(real_ < kPastMost)) fail_type("whole number");
    return static_cast<std::uint64_t>(real_);
  }
  return static_cast<std::uint64_t>(integer());
}

double Json::real() const {
  if (type_ == Type::real) return real_;
  if (type_ == Type::natural) return static_cast<double>(natural_);
  return static_cast<double>(integer());
}

const Json* Json::begin() const {
  if (is_array()) return array_->data();
  if (is_object()) return object_->values.data();
  return this;
}

const Json* Json::end() const {
  if (is_array()) return array_->data() + array_->size();
  if (is_object()) return object_->values.data() + object_->values.size();
  return is_null() ? this : this + 1;
}

Json::Members Json::items() const {
  if (!is_object()) return {nullptr, nullptr, 0};
  return {object_->names.data(), object_->values.data(), object_->values.size()};
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const auto found = std::ranges::find(object_->names, name);
  if (found == object_->names.end()) return nullptr;
  return &object_->values[static_cast<std::size_t>(found - object_->names.begin())];
}

const Json& Json::at(std::string_view name) const {
  if (!is_object()) fail_type("object");
  const Json* found = find(name);
  if (found == nullptr) throw JsonError(JsonError::Kind::access, "key '" + std::string(name) + "' not found");
  return *found;
}

const Json& Json::at(std::size_t index) const {
  if (!is_array()) fail_type("array");
  if (index >= array_->size())
    throw JsonError(JsonError::Kind::access, "array index " + std::to_string(index) + " is out of range");
  return (*array_)[index];
}

Json& Json::add(std::string name) {
  if (const Json* found = find(name)) return const_cast<Json&>(*found);
  object_->names.push_back(std::move(name));
  return object_->values.emplace_back();
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) *this = object();
  if (!is_object()) fail_type("object");
  return add(std::string(name));
}

void Json::push_back(Json value) {
  if (is_null()) *this = array();
  if (!is_array()) fail_type("array");
  array_->push_back(std::move(value));
}

void Json::update(const Json& other) {
  if (!other.is_object()) other.fail_type("object");
  for (const auto& [name, value] : other.items()) (*this)[name] = value;
}

void Json::erase(std::string_view name) {
  const Json* found = find(name);
  if (found == nullptr) return;
  const auto index = found - object_->values.data();
  object_->names.erase(object_->names.begin() + index);
  object_->values.erase(object_->values.begin() + index);
}

void Json::flatten_into(Json& flat, const std::string& path) const {
  if (empty() || (!is_array() && !is_object())) {
    flat[path] = is_array() || is_object() ? Json() : *this;
    return;
  }
  std::size_t index = 0;
  for (const Json& element : *this) {
    std::string step;
    for (const char c : is_array() ? std::to_string(index) : object_->names[index]) {
      step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    element.flatten_into(flat, path + "/" + step);
    ++index;
  }
}

Json Json::flatten() const {
  Json flat = object();
  flatten_into(flat, "");
  return flat;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.type_ == Json::Type::real || b.type_ == Json::Type::real) return a.real() == b.real();
    const bool one_negative = (a.type_ == Json::Type::integer && a.integer_ < 0) !=
                              (b.type_ == Json::Type::integer && b.integer_ < 0);
    return !one_negative && a.natural_ == b.natural_;
  }
  if (a.type_ != b.type_) return false;
  switch (a.type_) {
    case Json::Type::text:
      return *a.text_ == *b.text_;
    case Json::Type::array:
      return *a.array_ == *b.array_;
    case Json::Type::object:
      return a.object_->names == b.object_->names && a.object_->values == b.object_->values;
    case Json::Type::boolean:
      return a.natural_ == b.natural_;
    default:
      return true;
  }
}

}  // namespace papfft::app::io
