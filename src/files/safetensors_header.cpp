#include "files/safetensors_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/wording.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

// The header has three levels at most, so a state and no stack describes every place in it. Values
// of any other form are refused where they begin.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& where, Header& header) : where_(where), header_(header) {}

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("true or false"); }
  bool number_integer(number_integer_t value) override {
    refuse(fmt::format("the negative number {}", value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    refuse(fmt::format("{}, not a whole number of 63 bits", text));
  }
  bool binary(binary_t&) override { refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) refuse(fmt::format("{}", value));
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) {
      refuse(fmt::format("{}, not a whole number of 63 bits", value));
    }
    const std::int64_t size = static_cast<std::int64_t>(value);
    if (place_ == Place::shape) {
      entry_.shape.push_back(size);
    } else {
      offsets_.push_back(size);
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = std::move(value);
      return true;
    }
    if (place_ != Place::entry || key_ != "dtype") refuse(fmt::format("the text \"{}\"", value));
    const auto dtype = find_dtype(value);
    if (!dtype) {  // the other tensors can be read all the same
      entry_.unknown_dtype = std::move(value);
      return true;
    }
    entry_.dtype = *dtype;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::root;
    } else if (place_ == Place::root && key_ == "__metadata__") {
      place_ = Place::metadata;
      fields_.clear();
    } else if (place_ == Place::root) {
      place_ = Place::entry;
      entry_ = {};
      entry_.name = key_;
      offsets_.clear();
      fields_.clear();
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    if (value.find('\0') != string_t::npos) fail("the name of a tensor or field holds a NUL");
    if (place_ == Place::root && !names_.insert(value).second) {
      fail(fmt::format("duplicate tensor name {}", value));
    }
    if (place_ == Place::metadata && !fields_.insert(value).second) {
      fail(fmt::format("duplicate metadata key {}", value));
    }
    if (place_ == Place::entry) {
      if (value != "dtype" && value != "shape" && value != "data_offsets") {
        fail(fmt::format("tensor {}: unknown field {}; expected dtype, shape and data_offsets",
                         entry_.name, value));
      }
      if (!fields_.insert(value).second) {
        fail(fmt::format("tensor {}: duplicate field {}", entry_.name, value));
      }
    }
    key_ = std::move(value);
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) finish_entry();
    place_ = place_ == Place::root ? Place::outside : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::entry && key_ == "shape") {
      place_ = Place::shape;
    } else if (place_ == Place::entry && key_ == "data_offsets") {
      place_ = Place::offsets;
    } else {
      refuse("an array");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    const bool text = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    fail(
        fmt::format("the header is not valid {} at its byte {}; the file is damaged or not "
                    "safetensors",
                    text ? "UTF-8" : "JSON", position));
  }

 private:
  enum class Place { outside, root, metadata, entry, shape, offsets };

  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ErrorKind::file, fmt::format("{}: {}", where_, base::shown_name(text)));
  }

  [[noreturn]] void refuse(const std::string& got) const {
    switch (place_) {
      case Place::outside:
        fail(fmt::format("the header is {}, expected an object", got));
      case Place::root:
        fail(fmt::format("{}: got {}, expected an object", key_, got));
      case Place::metadata:
        fail(fmt::format("__metadata__: {}: got {}, expected a text", key_, got));
      default:
        break;
    }
    const char* expected = key_ == "dtype"   ? "a text such as F32"
                           : key_ == "shape" ? "an array of whole numbers"
                                             : "an array of two whole numbers";
    fail(fmt::format("tensor {}: {}: got {}, expected {}", entry_.name, key_, got, expected));
  }

  void finish_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) {
        fail(fmt::format("tensor {}: the field {} is missing", entry_.name, field));
      }
    }
    if (offsets_.size() != 2) {
      fail(fmt::format("tensor {}: data_offsets has {} numbers, expected 2", entry_.name,
                       offsets_.size()));
    }
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    header_.entries.push_back(std::move(entry_));
  }

  const std::string& where_;
  Header& header_;
  Place place_ = Place::outside;
  std::string key_;
  HeaderEntry entry_;
  std::vector<std::int64_t> offsets_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
};

}  // namespace

Header parse_safetensors_header(std::string_view text, const std::string& where) {
  if (text.empty() || text.front() != '{') {
    throw Error(ErrorKind::file,
                fmt::format("{}: the header does not begin with '{{'; the file is damaged or not "
                            "safetensors",
                            where));
  }
  Header header;
  HeaderReader reader(where, header);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  return header;
}

}  // namespace lexirow::files
