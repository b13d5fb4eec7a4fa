#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "store/model_folder.h"
#include "store/table.h"
#include "store/table_write.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace lexirow::cli {

/// The positional MODEL, the same in every verb that opens one.
Positional model_positional();

/// The positional of the verbs that look at any table.
inline constexpr const char* kTableArgument = "MODEL|TABLE";
Positional table_positional();
/// The options of every verb that opens a table, behind its own ones.
void add_table_options(std::vector<Option>& options);
/// What they say.
store::TableOptions table_options(const Arguments& arguments);
/// Opens the table that is named, and says its notes on standard error. Throws UsageError and as
/// store::open_table.
store::Table open_table_argument(const Arguments& arguments,
                                 const std::string& positional = kTableArgument);

/// Refuses an option of add_table_options: "--limit REASON; leave it out". Throws UsageError.
void refuse_table_options(const Arguments& arguments, const std::string& reason);

/// Says what the form and the dtype of a table that was written could not keep.
void say_notes(const store::WrittenTable& written);

/// The tokenizer of a file or folder (store::open_tokenizer); says what of it is not applied.
///   split  how a tiktoken rank file cuts text; auto: as its size says
/// Throws Error(io|file|argument).
std::shared_ptr<const text::Tokenizer> load_tokenizer(const std::string& path,
                                                      const std::string& split = "auto");

/// A vocabulary made of the text itself (char, word) or needing none (byte).
std::shared_ptr<const text::Tokenizer> tokenizer_of_text(const text::VocabularyOptions& options,
                                                         const std::string& text);

/// Tokens of a text that the user wrote for this model, a prompt or a query. A character that the
/// vocabulary lacks is Error(file): the command was right, the text does not fit. Words that became
/// <unk> and bytes that became U+FFFD are said on standard error, with the words' spellings.
std::vector<text::Piece> pieces_for_model(const text::Tokenizer& tokenizer, const std::string& text,
                                          const std::string& what);
/// The same for a model that may have been trained with --eos.
std::vector<text::Piece> pieces_for_model(const store::ModelFolder& folder, const std::string& text,
                                          const std::string& what);

/// Says what an encoding met, each once, where it met anything.
void say_counts(const text::EncodeCounts& counts);

}  // namespace lexirow::cli
