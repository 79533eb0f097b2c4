// SPDX-License-Identifier: MIT
// A JSON document in memory. The members of an object keep their order.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace papfft::app::io {

/// A text that is no JSON, or a document that is not as it was taken to be.
class JsonError : public std::runtime_error {
 public:
  enum class Kind {
    syntax,  ///< the text is no JSON; byte() says where
    number,  ///< a number is out of range
    depth,   ///< the document nests too deeply
    access   ///< there is no such member or element, or it is of another type
  };

  JsonError(Kind kind, const std::string& what, std::size_t byte = 0)
      : std::runtime_error(what), kind_(kind), byte_(byte) {}
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::size_t byte() const { return byte_; }

 private:
  Kind kind_;
  std::size_t byte_;
};

class Json {
 public:
  class Item;
  class Reader;
  class Members;
  enum class Type : std::uint8_t { null, boolean, integer, natural, real, text, array, object };

  static constexpr int kDeepest = 64;

  Json() noexcept : natural_(0) {}
  Json(std::nullptr_t) noexcept : Json() {}
  Json(bool value) noexcept : type_(Type::boolean), natural_(value ? 1 : 0) {}
  template <std::signed_integral Number>
  Json(Number value) noexcept : type_(Type::integer), integer_(value) {}
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) Json(Number value)
  noexcept : type_(Type::natural), natural_(value) {}
  template <std::floating_point Number>
  Json(Number value) noexcept : type_(Type::real), real_(static_cast<double>(value)) {}
  Json(std::string value);
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  /// An array of what the range holds.
  template <typename Range>
  requires(!std::same_as<Range, Json> && !std::convertible_to<const Range&, std::string_view> &&
           requires(const Range& range) { range.begin() != range.end(); }) Json(const Range& values)
      : Json(array()) {
    for (const auto& value : values) push_back(Json(value));
  }
  /// {{"name", 1}, {"other", 2}}: an object, if each item is a list of a text and a value; otherwise an array.
  Json(std::initializer_list<Item> items);

  Json(const Json& other);
  Json(Json&& other) noexcept : type_(std::exchange(other.type_, Type::null)), natural_(other.natural_) {}
  Json& operator=(Json other) noexcept {
    std::swap(type_, other.type_);
    std::swap(natural_, other.natural_);
    return *this;
  }
  ~Json() {
    if (type_ >= Type::text) destroy();
  }

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json array(std::initializer_list<Item> items);
  [[nodiscard]] static Json object();
  /// @throws JsonError  an item is no list of a text and a value
  [[nodiscard]] static Json object(std::initializer_list<Item> items);

  /// @param reader   sees parts while they are read, and may leave them out
  /// @param deepest  the most arrays and objects around a value
  /// @throws JsonError; and what the reader throws
  [[nodiscard]] static Json parse(std::string_view text, int deepest = kDeepest);
  [[nodiscard]] static Json parse(std::string_view text, Reader& reader, int deepest = kDeepest);

  /// The document as text. Bytes that are no UTF-8 become U+FFFD; a number that is not finite becomes null.
  /// @param indent  spaces per level; -1: all on one line, without spaces
  [[nodiscard]] std::string dump(int indent = -1) const;

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool is_null() const { return type_ == Type::null; }
  [[nodiscard]] bool is_boolean() const { return type_ == Type::boolean; }
  [[nodiscard]] bool is_number() const { return is_number_integer() || type_ == Type::real; }
  [[nodiscard]] bool is_number_integer() const { return type_ == Type::integer || is_number_unsigned(); }
  [[nodiscard]] bool is_number_unsigned() const { return type_ == Type::natural; }
  [[nodiscard]] bool is_string() const { return type_ == Type::text; }
  [[nodiscard]] bool is_array() const { return type_ == Type::array; }
  [[nodiscard]] bool is_object() const { return type_ == Type::object; }

  /// The value as bool, number, std::string, Json, or std::vector of these. A number is converted to the type asked for.
  /// @throws JsonError  it is of another type, or a real number does not fit into a whole one
  template <typename Value>
  [[nodiscard]] Value get() const;
  /// @throws JsonError  it is no text
  [[nodiscard]] const std::string& text() const;

  /// Elements of an array, members of an object; 0 of null, and 1 of all else.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end() - begin()); }
  [[nodiscard]] bool empty() const { return begin() == end(); }
  /// The elements of an array, the values of an object's members; nothing of null, and all else itself.
  [[nodiscard]] const Json* begin() const;
  [[nodiscard]] const Json* end() const;
  /// @throws JsonError  there is none
  [[nodiscard]] const Json& front() const { return at(std::size_t{0}); }
  /// Of an object: for (const auto& [name, value] : json.items()). Of all else nothing.
  [[nodiscard]] Members items() const;

  /// Of an object; of all else there is none.
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// @throws JsonError  there is none
  [[nodiscard]] const Json& at(std::string_view name) const;
  [[nodiscard]] const Json& at(std::size_t index) const;
  /// The member's value, or another if there is none. @throws JsonError  this is no object, or the member of another type
  template <typename Value>
  [[nodiscard]] Value value(std::string_view name, const Value& absent) const;
  [[nodiscard]] std::string value(std::string_view name, const char* absent) const {
    return value(name, std::string(absent));
  }

  /// Makes the member, if there is none; makes an object of null. @throws JsonError  this is neither
  Json& operator[](std::string_view name);
  const Json& operator[](std::string_view name) const { return at(name); }
  Json& operator[](std::size_t index) { return const_cast<Json&>(at(index)); }
  const Json& operator[](std::size_t index) const { return at(index); }
  /// Makes an array of null. @throws JsonError  this is neither
  void push_back(Json value);
  /// Adds the other object's members to this one; where both have one, the other's stays. @throws JsonError  no objects
  void update(const Json& other);
  void erase(std::string_view name);

  /// An object of all values that are in no other: {"a": {"b": [1, 2]}} is {"/a/b/0": 1, "/a/b/1": 2}. Empty ones are null.
  [[nodiscard]] Json flatten() const;

  /// Numbers are equal if their values are, whatever their types.
  friend bool operator==(const Json& a, const Json& b);

 private:
  struct Object {
    std::vector<std::string> names;
    std::vector<Json> values;
  };

  friend class JsonBuilder;
  void destroy() noexcept;
  void flatten_into(Json& flat, const std::string& path) const;
  Json& add(std::string name);
  [[noreturn]] void fail_type(const char* wanted) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t natural() const;
  [[nodiscard]] double real() const;

  Type type_ = Type::null;
  union {
    std::int64_t integer_;
    std::uint64_t natural_;
    double real_;
    std::string* text_;
    std::vector<Json>* array_;
    Object* object_;
  };
};

/// What stands between the braces of a list.
class Json::Item {
 public:
  template <typename Value>
  requires(!std::same_as<std::remove_cvref_t<Value>, Item> && std::constructible_from<Json, Value>)
      Item(Value&& value)  // NOLINT(bugprone-forwarding-reference-overload): Item is excluded above
      : value_(std::forward<Value>(value)) {}
  Item(std::initializer_list<Item> items) : value_(items) {}
  /// The lists of the language are const, but what is in them is used once.
  [[nodiscard]] Json take() const { return std::move(value_); }
  [[nodiscard]] bool is_member() const {
    return value_.is_array() && value_.size() == 2 && value_.front().is_string();
  }

 private:
  mutable Json value_;
};

/// Sees the parts of an outermost object while they are read: what is not needed takes no memory.
class Json::Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;
  [[nodiscard]] virtual bool keeps_member(std::string_view /*name*/) { return true; }
  /// @param list  the member whose value is an array with this element
  [[nodiscard]] virtual bool keeps_element(std::string_view /*list*/, const Json& /*element*/) {
    return true;
  }
};

class Json::Members {
 public:
  class Iterator {
   public:
    Iterator(const std::string* name, const Json* value) : name_(name), value_(value) {}
    std::pair<const std::string&, const Json&> operator*() const { return {*name_, *value_}; }
    Iterator& operator++() {
      ++name_;
      ++value_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return value_ == other.value_; }

   private:
    const std::string* name_;
    const Json* value_;
  };

  Members(const std::string* names, const Json* values, std::size_t size)
      : names_(names), values_(values), size_(size) {}
  [[nodiscard]] Iterator begin() const { return {names_, values_}; }
  [[nodiscard]] Iterator end() const { return {names_ + size_, values_ + size_}; }

 private:
  const std::string* names_;
  const Json* values_;
  std::size_t size_;
};

template <typename Value>
Value Json::get() const {
  if constexpr (std::same_as<Value, Json>) {
    return *this;
  } else if constexpr (std::same_as<Value, bool>) {
    return boolean();
  } else if constexpr (std::signed_integral<Value>) {
    return static_cast<Value>(integer());
  } else if constexpr (std::unsigned_integral<Value>) {
    return static_cast<Value>(natural());
  } else if constexpr (std::floating_point<Value>) {
    return static_cast<Value>(real());
  } else if constexpr (std::same_as<Value, std::string>) {
    return text();
  } else {
    if (!is_array()) fail_type("array");
    Value values;
    for (const Json& element : *this) values.push_back(element.get<typename Value::value_type>());
    return values;
  }
}

template <typename Value>
Value Json::value(std::string_view name, const Value& absent) const {
  if (!is_object()) fail_type("object");
  const Json* found = find(name);
  return found == nullptr ? absent : found->get<Value>();
}

}  // namespace papfft::app::io
