#include "lexirow/error.h"

namespace lexirow {

const char* error_kind_name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::argument:
      return "argument";
    case ErrorKind::index:
      return "index";
    case ErrorKind::shape:
      return "shape";
    case ErrorKind::file:
      return "file";
    case ErrorKind::io:
      return "io";
    case ErrorKind::numeric:
      return "numeric";
  }
  return "unknown";
}

}  // namespace lexirow
