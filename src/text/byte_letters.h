#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lexirow::text {

/// The letter by which byte-level tokenizer files write a byte (GPT-2's table: printable Latin-1 as
/// it is, the rest from U+0100 on).
char32_t byte_letter(unsigned char byte);

/// The byte that a letter stands for, or -1.
int letter_byte(char32_t letter);

/// Bytes as byte letters, in UTF-8.
std::string to_byte_letters(std::string_view bytes);

/// Appends the bytes that a token's spelling in letters stands for; false, and nothing appended,
/// when a character is no byte letter.
bool append_from_byte_letters(std::string_view letters, std::string& bytes);

/// The bytes that a token's spelling in letters stands for; nothing when a character is no byte
/// letter.
std::optional<std::string> from_byte_letters(std::string_view letters);

}  // namespace lexirow::text
