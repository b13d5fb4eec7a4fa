#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lexirow/error.h"
#include "text/chunk_joiner.h"
#include "text/in_file.h"
#include "text/token_stream.h"
#include "text/utf8.h"

namespace lexirow::text {

struct StreamEncoder::State {
  void open_document(std::vector<Id>& ids) {
    if (documents.bos && !document_open) ids.push_back(tokenizer.specials().bos);
    document_open = true;
  }
  void encode(std::string_view text, std::vector<Id>& ids) {
    tokenizer.encode(text, rules, ids, counts);
    advance_place(rules.start, text);
    rules.continues = true;
  }
  void push_text(std::string_view bytes, std::vector<Id>& ids) {
    if (bytes.empty()) return;
    open_document(ids);
    line_open = true;
    joiner.push(
        bytes,
        [this](std::string_view text, std::size_t scanned) {
          return tokenizer.safe_cut(text, scanned);
        },
        [&](std::string_view text) { encode(text, ids); });
  }
  void finish_text(std::vector<Id>& ids) {
    joiner.finish([&](std::string_view text) { encode(text, ids); });
  }
  void end_line(std::vector<Id>& ids) {
    finish_text(ids);
    if (documents.eos_per_line) ids.push_back(tokenizer.specials().eos);
    line_open = false;
    rules.continues = false;
    if (documents.lines) document_open = false;
  }

  const Tokenizer& tokenizer;
  EncodeRules rules;
  DocumentRules documents;
  ChunkJoiner joiner;
  EncodeCounts counts;
  std::int64_t emitted = 0;  // ids before this call
  bool line_open = false;    // something of an unfinished line was read
  bool document_open = false;
};

StreamEncoder::StreamEncoder(const Tokenizer& tokenizer, const EncodeRules& rules,
                             const DocumentRules& documents)
    : state_(new State{tokenizer, rules, documents, {}, {}, 0, false, false}) {
  if (documents.eos_per_line && tokenizer.specials().eos == kNoId) {
    throw Error(ErrorKind::argument,
                "<eos> after every line was asked for, but the vocabulary has no <eos>; make one "
                "with --eos");
  }
  if (documents.bos && tokenizer.specials().bos == kNoId) {
    throw Error(
        ErrorKind::argument,
        "<bos> before every document was asked for, but the vocabulary has no <bos>; make one "
        "with --bos");
  }
}

StreamEncoder::~StreamEncoder() = default;

void StreamEncoder::push(std::string_view bytes, std::vector<Id>& ids,
                         std::vector<std::int64_t>& boundaries) {
  State& state = *state_;
  const std::size_t before = ids.size();
  const bool by_line = state.documents.lines || state.documents.eos_per_line;
  while (by_line) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    state.open_document(ids);
    if (state.joiner.empty()) {
      state.encode(bytes.substr(0, end), ids);  // a whole line: nothing to hold back
    } else {
      state.push_text(bytes.substr(0, end), ids);
    }
    state.end_line(ids);
    advance_place(state.rules.start, "\n");
    if (state.documents.lines) {
      boundaries.push_back(state.emitted + static_cast<std::int64_t>(ids.size() - before));
    }
    bytes.remove_prefix(end + 1);
  }
  state.push_text(bytes, ids);
  state.emitted += static_cast<std::int64_t>(ids.size() - before);
}

void StreamEncoder::end_file(std::vector<Id>& ids, std::vector<std::int64_t>& boundaries) {
  State& state = *state_;
  const std::size_t before = ids.size();
  const bool ends_line = state.line_open;
  if (ends_line && (state.documents.lines || state.documents.eos_per_line)) {
    state.end_line(ids);
  } else {
    state.finish_text(ids);
  }
  state.emitted += static_cast<std::int64_t>(ids.size() - before);
  if (ends_line || !state.documents.lines) boundaries.push_back(state.emitted);
  state.line_open = false;
  state.document_open = false;
  state.rules.start = {};
  state.rules.continues = false;
}

const EncodeCounts& StreamEncoder::counts() const {
  return state_->counts;
}

std::vector<std::int64_t> encode_corpus(const CorpusFiles& files, const CorpusRules& corpus_rules,
                                        const Tokenizer& tokenizer, const EncodeRules& encode_rules,
                                        const DocumentRules& document_rules,
                                        CorpusCounts& corpus_counts, EncodeCounts& encode_counts,
                                        const std::function<void(std::span<const Id>)>& sink) {
  StreamEncoder encoder(tokenizer, encode_rules, document_rules);
  std::vector<std::int64_t> boundaries{0};
  std::vector<Id> ids;
  for (const std::string& path : files.paths) {
    read_corpus_file(path, corpus_rules, corpus_counts, [&](std::string_view chunk) {
      ids.clear();
      in_file(path, [&] { encoder.push(chunk, ids, boundaries); });
      if (!ids.empty()) sink(ids);
    });
    ids.clear();
    in_file(path, [&] { encoder.end_file(ids, boundaries); });
    if (!ids.empty()) sink(ids);
  }
  encode_counts += encoder.counts();
  return boundaries;
}

namespace {

/// Hands out places as the tokens of a corpus go by.
class PlaceFinder {
 public:
  explicit PlaceFinder(const std::vector<std::int64_t>& tokens)
      : tokens_(tokens), places_(tokens.size()) {
    order_.resize(tokens.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return tokens[a] < tokens[b]; });
    while (next_ < order_.size() && tokens_[order_[next_]] < 0) ++next_;
  }

  bool done() const { return next_ == order_.size(); }
  /// `count` more tokens stand in this line.
  void pass(std::size_t count, const std::string& path, std::int64_t line) {
    passed_ += static_cast<std::int64_t>(count);
    for (; !done() && tokens_[order_[next_]] < passed_; ++next_)
      places_[order_[next_]] = {path, line};
  }
  std::vector<TokenPlace> take() { return std::move(places_); }

 private:
  const std::vector<std::int64_t>& tokens_;
  std::vector<TokenPlace> places_;
  std::vector<std::size_t> order_;  // by token
  std::size_t next_ = 0;
  std::int64_t passed_ = 0;
};

}  // namespace

std::vector<TokenPlace> locate_tokens(const CorpusFiles& files, const CorpusRules& corpus_rules,
                                      const Tokenizer& tokenizer, const EncodeRules& encode_rules,
                                      const DocumentRules& document_rules,
                                      std::vector<std::int64_t> tokens) {
  PlaceFinder finder(tokens);
  StreamEncoder encoder(tokenizer, encode_rules, document_rules);
  CorpusCounts counts;
  std::vector<Id> ids;
  std::vector<std::int64_t> boundaries;
  for (const std::string& path : files.paths) {
    if (finder.done() || path == "-") break;
    std::int64_t line = 1;
    // Fed line by line, the encoder has emitted a line's tokens when its end is in.
    read_corpus_file(path, corpus_rules, counts, [&](std::string_view chunk) {
      while (!chunk.empty() && !finder.done()) {
        const std::size_t size = std::min(chunk.find('\n'), chunk.size() - 1) + 1;
        const bool ends = chunk[size - 1] == '\n';
        encoder.push(chunk.substr(0, size), ids, boundaries);
        finder.pass(ids.size(), path, line);
        ids.clear();
        boundaries.clear();
        if (ends) ++line;
        chunk.remove_prefix(size);
      }
    });
    encoder.end_file(ids, boundaries);
    finder.pass(ids.size(), path, line);
    ids.clear();
  }
  return finder.take();
}

}  // namespace lexirow::text
