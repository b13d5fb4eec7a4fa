#pragma once

#include <stdexcept>
#include <string>

namespace lexirow {

/// What kind of thing went wrong. The text of the error says where, what was got, what was
/// expected and what to do next.
enum class ErrorKind {
  argument,  ///< a value the caller gave cannot be used
  index,     ///< an id or position is out of range
  shape,     ///< sizes do not fit together
  file,      ///< the contents of a file are not what they should be
  io,        ///< the operating system refused to read or write
  numeric,   ///< a number is not finite
};

/// The one exception type that Lexirow throws on purpose.
class Error : public std::runtime_error {
 public:
  /// An error of a kind with its whole message.
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  /// What kind of thing went wrong; what() is the message.
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// The kind as one lower-case word, as the JSON answers spell it.
const char* error_kind_name(ErrorKind kind) noexcept;

}  // namespace lexirow
