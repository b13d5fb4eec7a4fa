#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/corpus.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// The ids of a corpus, all files behind one another. Documents (files; lines in line mode) are
/// [begin(i), begin(i+1)).
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  virtual std::int64_t size() const = 0;
  /// Copies ids [begin, begin + out.size()). Safe from several threads. Throws Error(index)
  /// outside.
  virtual void read(std::int64_t begin, std::span<Id> out) const = 0;
  /// Says that ids [begin, begin + count) are read soon: what must come from a disk is fetched
  /// meanwhile. Returns at once; changes nothing that read() gives.
  virtual void prefetch(std::int64_t /*begin*/, std::int64_t /*count*/) const {}

  /// [documents + 1], first 0, last size().
  const std::vector<std::int64_t>& boundaries() const { return boundaries_; }

 protected:
  std::vector<std::int64_t> boundaries_{0};
};

/// Ids held in memory.
class MemoryTokenStream final : public TokenStream {
 public:
  MemoryTokenStream(std::vector<Id> ids, std::vector<std::int64_t> boundaries);
  std::int64_t size() const override { return static_cast<std::int64_t>(ids_.size()); }
  void read(std::int64_t begin, std::span<Id> out) const override;

 private:
  std::vector<Id> ids_;
};

/// Bytes that each id takes in a spool file: 1, 2 or 4, the fewest that hold every id of the
/// vocabulary. What a large text costs to read is mostly the writing of them.
int spooled_id_bytes(std::int64_t vocab_size);
/// Ids as a spool file holds them: little-endian, unsigned, `id_bytes` each.
void pack_ids(std::span<const Id> ids, int id_bytes, std::vector<unsigned char>& packed);

/// Ids spooled to a file as pack_ids makes them, read by position: memory stays bounded whatever
/// the size of the corpus. The file is removed when the stream goes. Throws Error(io) when it
/// cannot be read, Error(file) when its size is not that of the last boundary.
class FileTokenStream final : public TokenStream {
 public:
  FileTokenStream(std::string path, int id_bytes, std::vector<std::int64_t> boundaries);
  ~FileTokenStream() override;
  FileTokenStream(const FileTokenStream&) = delete;
  FileTokenStream& operator=(const FileTokenStream&) = delete;
  std::int64_t size() const override { return size_; }
  void read(std::int64_t begin, std::span<Id> out) const override;
  void prefetch(std::int64_t begin, std::int64_t count) const override;

 private:
  std::string path_;
  int id_bytes_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// How text becomes documents.
struct DocumentRules {
  bool lines = false;         ///< every line is a document; a line ends at LF or end of file
  bool eos_per_line = false;  ///< <eos> after every line, blank ones too, in place of the line end
  bool bos = false;           ///< <bos> before every document
};

/// Encodes chunks cut anywhere as if they were one text: what cannot be decided yet (an unfinished
/// UTF-8 sequence, an unfinished word) is kept until the next chunk or the end of the file. In line
/// mode and with eos_per_line the line ends themselves are no text; a last line without LF is a
/// line too. Errors give line and column in the file.
class StreamEncoder {
 public:
  /// Borrows the tokenizer. Throws Error(argument) for eos_per_line without <eos>.
  StreamEncoder(const Tokenizer& tokenizer, const EncodeRules& rules,
                const DocumentRules& documents);
  ~StreamEncoder();

  /// Appends ids; in line mode `boundaries` receives the end of each finished line, counted in ids
  /// since the construction of the encoder.
  void push(std::string_view bytes, std::vector<Id>& ids, std::vector<std::int64_t>& boundaries);
  /// Ends the file: its last line in line mode, else its document (an empty one, if nothing came).
  void end_file(std::vector<Id>& ids, std::vector<std::int64_t>& boundaries);

  const EncodeCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads and encodes files one after another; `sink` gets ids in pieces. Returns the boundaries
/// (first 0). Errors name the file.
std::vector<std::int64_t> encode_corpus(const CorpusFiles& files, const CorpusRules& corpus_rules,
                                        const Tokenizer& tokenizer, const EncodeRules& encode_rules,
                                        const DocumentRules& document_rules,
                                        CorpusCounts& corpus_counts, EncodeCounts& encode_counts,
                                        const std::function<void(std::span<const Id>)>& sink);

/// Where a token stands in the text: for messages.
struct TokenPlace {
  std::string path;
  std::int64_t line = 0;  ///< from 1
};

/// Reads the corpus again to find the places of some tokens of its stream, in the order asked for.
/// What stands in or behind stdin, which cannot be read again, and what is outside the stream has
/// line 0.
std::vector<TokenPlace> locate_tokens(const CorpusFiles& files, const CorpusRules& corpus_rules,
                                      const Tokenizer& tokenizer, const EncodeRules& encode_rules,
                                      const DocumentRules& document_rules,
                                      std::vector<std::int64_t> tokens);

}  // namespace lexirow::text
