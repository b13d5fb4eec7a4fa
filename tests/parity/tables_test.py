#!/usr/bin/env python3
"""Tables that other programs write are read here, and theirs read what is written here.

  tables_test.py --program LEXIROW [--only PART]

PyPI's numpy, safetensors and gensim stand in build/parity-venv, which scripts/fetch_test_data makes;
fasttext and python3-torch are Debian's. A part whose programs are missing is skipped with a word.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build/parity-venv/bin/python"
SKIPPED = 77
WORDS = ["king", "queen", "\u017c\u00f3\u0142w", "\u5317\u4eac", "naïve", "a-b", "3.14", "nan", "\U0001f600", "x" * 60]


class Lexirow:
    """The program, in one folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"lexirow {arguments}: {done.stderr.decode()}")
        return done.stdout.decode()

    def info(self, path):
        return json.loads(self("info", path, "--json"))

    def findings(self, path):
        """What the doctor says of a table but for notes: nothing of a clean one."""
        done = subprocess.run([self.program, "doctor", str(path), "--json"], cwd=self.folder,
                              capture_output=True, check=False)
        report = json.loads(done.stdout)
        assert done.returncode == (0 if report["passed"] else 1), done
        return [one for one in report["findings"] if one["severity"] != "note"]

    def array(self, path, *options):
        """The rows as lexirow reads them, through npy."""
        import numpy as np
        self("convert", path, "out.npy", *options)
        return np.load(self.folder / "out.npy")


def same(ours, theirs, what):
    import numpy as np
    assert ours.dtype == np.float32 and ours.shape == theirs.shape, (what, ours.shape, theirs.shape)
    assert np.array_equal(ours, theirs.astype(np.float32), equal_nan=True), what


def numpy_part(lexirow):
    import numpy as np
    rng = np.random.default_rng(6)
    values = rng.normal(size=(17, 5))
    values[3, 2] = np.nan
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(lexirow.folder / "a.npy", "wb") as file:
            np.lib.format.write_array(file, values.astype("f4"), version=version)
        same(lexirow.array("a.npy"), values.astype("f4"), version)
    for dtype in ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
        for order in "CF":
            array = np.asarray(values, dtype=dtype, order=order)
            np.save(lexirow.folder / "a.npy", array)
            same(lexirow.array("a.npy"), array, (dtype, order))
            np.savez(lexirow.folder / "a.npz", table=array)
            same(lexirow.array("a.npz"), array, ("npz", dtype, order))
            np.savez_compressed(lexirow.folder / "b.npz", a=array, b=array[:2])
            same(lexirow.array("b.npz", "--tensor", "b"), array[:2], ("packed", dtype, order))
    for dtype in ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<i8", "<u8"]:
        array = rng.integers(0, 100, size=(4, 3)).astype(dtype)
        np.save(lexirow.folder / "a.npy", array)
        same(lexirow.array("a.npy"), array, dtype)
    np.save(lexirow.folder / "o.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
    done = subprocess.run([lexirow.program, "info", "o.npy"], cwd=lexirow.folder, capture_output=True,
                          check=False)
    assert done.returncode == 1 and b"never unpickled" in done.stderr, done.stderr


def safetensors_part(lexirow):
    import numpy as np
    from safetensors.numpy import load_file, save_file
    rng = np.random.default_rng(7)
    for dtype in ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"]:
        table = (rng.normal(size=(11, 6)) * 20).astype(dtype)
        save_file({"h.0.attn.weight": table[:3], "wte.weight": table, "n": table[0]},
                  lexirow.folder / "m.safetensors", metadata={"format": "pt"})
        same(lexirow.array("m.safetensors"), table, dtype)
    (lexirow.folder / "words.txt").write_text("a b 1 2\nc 3 4\n", encoding="utf-8")
    lexirow("convert", "words.txt", "w.safetensors")
    loaded = load_file(lexirow.folder / "w.safetensors")
    assert loaded["token_embedding.weight"].tolist() == [[1, 2], [3, 4]]
    assert loaded["token_bytes"].tobytes() == b"a bc" and loaded["token_ends"].tolist() == [3, 4]


def gensim_part(lexirow):
    import numpy as np
    from gensim.models import KeyedVectors
    vectors = KeyedVectors(7)
    vectors.add_vectors(WORDS, np.random.default_rng(8).normal(size=(len(WORDS), 7)).astype("f4"))
    for binary in [False, True]:
        for header in [True, False] if not binary else [True]:
            theirs = lexirow.folder / "theirs"
            vectors.save_word2vec_format(str(theirs), binary=binary, write_header=header)
            same(lexirow.array("theirs"), KeyedVectors.load_word2vec_format(
                str(theirs), binary=binary, no_header=not header).vectors, (binary, header))
            assert lexirow.info("theirs")["tokens"] == len(WORDS)
            for ours, form in [("ours.txt", False), ("ours.bin", True)]:
                lexirow("convert", "theirs", ours)
                back = KeyedVectors.load_word2vec_format(str(lexirow.folder / ours), binary=form)
                assert back.index_to_key == WORDS, back.index_to_key
                if binary:
                    same(back.vectors, vectors.vectors, ours)
    rng = np.random.default_rng(9)
    many = KeyedVectors(20)
    many.add_vectors([f"w{i}" for i in range(500)], rng.normal(size=(500, 20)).astype("f4"))
    many.save_word2vec_format(str(lexirow.folder / "many"), binary=True)
    for arguments, positive, negative in [(["w1"], ["w1"], []), (["w1", "--minus", "w2", "--add", "w3"],
                                                                 ["w1", "w3"], ["w2"])]:
        ours = json.loads(lexirow("near", "many", *arguments, "-k", 20, "--json"))["neighbours"]
        theirs = many.most_similar(positive, negative, topn=20)
        assert [one["token"] for one in ours] == [word for word, _ in theirs]
        assert np.allclose([one["cosine"] for one in ours], [score for _, score in theirs], atol=1e-6)

    # Tables that gensim trained: the doctor leaves them in peace, until one is spoilt.
    from gensim.models import Word2Vec
    lines = [line.split() for line in (ROOT / "data/harbour.txt").read_text(encoding="utf-8").splitlines()]
    for settings in [{"sg": 0}, {"sg": 1}, {"sg": 1, "negative": 0, "hs": 1}, {"sg": 0, "epochs": 60}]:
        model = Word2Vec(lines, vector_size=24, min_count=2, seed=1, workers=1, **settings)
        model.wv.save_word2vec_format(str(lexirow.folder / "w2v"), binary=True)
        assert not lexirow.findings("w2v"), (settings, lexirow.findings("w2v"))
        if "hs" not in settings:  # the inner nodes of a Huffman tree are one fewer than its rows
            np.save(lexirow.folder / "head.npy", model.syn1neg)
            assert not lexirow.findings("head.npy"), (settings, lexirow.findings("head.npy"))
    vectors = model.wv.vectors
    vectors[9] = vectors[40]
    vectors[11] *= 400
    np.save(lexirow.folder / "spoilt.npy", vectors)
    found = {one["kind"]: one["rows"] for one in lexirow.findings("spoilt.npy")}
    assert found == {"duplicate": [9, 40], "outlier_norm": [11]}, found


def fasttext_part(lexirow):
    import numpy as np
    text = (ROOT / "data/harbour.txt").read_text(encoding="utf-8") + " żółw żółwie 北京 北京市 " * 20
    (lexirow.folder / "text").write_text(text, encoding="utf-8")

    def fasttext(*arguments, **given):
        return subprocess.run(["fasttext", *arguments], cwd=lexirow.folder, capture_output=True,
                              check=True, **given).stdout.decode()

    for kind, minn, maxn in [("skipgram", "3", "6"), ("cbow", "2", "4"), ("skipgram", "0", "0")]:
        fasttext(kind, "-input", "text", "-output", "ft", "-dim", "12", "-epoch", "1", "-minCount", "1",
                 "-bucket", "2000", "-minn", minn, "-maxn", maxn, "-thread", "1")
        model, listed = lexirow.array("ft.bin"), lexirow.array("ft.vec")
        assert lexirow.info("ft.bin")["format"] == "fastText model"
        # With one thread fastText draws only the first tenth of its rows and leaves zeros in the
        # others: those of words that training passes over stay so, and are rightly found.
        zeros = [row for row, values in enumerate(listed) if not values.any()]
        for name in ["ft.bin", "ft.vec"]:
            found = [(one["kind"], one["rows"]) for one in lexirow.findings(name)]
            assert found == ([("zero", zeros)] if zeros else []), (kind, minn, name, found)
        assert np.allclose(model, listed, rtol=1e-4, atol=1e-7), kind
        if maxn == "0":
            continue
        # Words that the model has not seen: the cosine to every word, by fastText's own vectors.
        unseen = ["harbourmasters", "żółwiami", "北京人", "zzz"]
        printed = fasttext("print-word-vectors", "ft.bin", input="\n".join(unseen).encode())
        for word, line in zip(unseen, printed.splitlines()):
            vector = np.array([float(number) for number in line.split()[1:]])
            near = json.loads(lexirow("near", "ft.bin", word, "-k", 5, "--json"))["neighbours"]
            for one in near:
                row = model[one["id"]].astype("f8")
                cosine = row @ vector / np.linalg.norm(row) / np.linalg.norm(vector)
                assert abs(one["cosine"] - cosine) < 1e-4, (word, one, cosine)
                assert abs(one["distance"] - np.linalg.norm(row - vector)) < 1e-4, (word, one)
    fasttext("supervised", "-input", "text", "-output", "q", "-dim", "4", "-epoch", "1")


def torch_part(lexirow):
    """Run by Debian's Python: the names and shapes of a trained model are those of the module."""
    import torch
    from safetensors.torch import load_file, load_model

    class Model(torch.nn.Module):
        def __init__(self, vocab, dim, hidden, tied):
            super().__init__()
            self.token_embedding = torch.nn.Embedding(vocab, dim)
            self.mixer = torch.nn.Sequential(torch.nn.Linear(dim, hidden), torch.nn.GELU(),
                                             torch.nn.Linear(hidden, dim))
            self.lm_head = torch.nn.Linear(dim, vocab, bias=not tied)
            if tied:
                self.lm_head.weight = self.token_embedding.weight

    for tied in [False, True]:
        name = "tied" if tied else "untied"
        lexirow("train", ROOT / "data/harbour.txt", "--out", name, "--preset", "plain", "--dim", 8,
                "--steps", 2, *(["--tied"] if tied else []))
        path = str(lexirow.folder / name / "model.safetensors")
        stored = load_file(path)
        vocab, dim = stored["token_embedding.weight"].shape
        model = Model(vocab, dim, stored["mixer.0.weight"].shape[0], tied)
        if tied:
            missing, unexpected = load_model(model, path)
            assert not missing and not unexpected, (missing, unexpected)
            assert model.lm_head.weight is model.token_embedding.weight
        else:
            model.load_state_dict(stored)
        for key, value in stored.items():
            assert torch.equal(model.state_dict()[key], value), key
    # As others write it: F16 and BF16, rounded as PyTorch rounds.
    wide = torch.cat([torch.randn(500, 4) * 10.0 ** torch.randint(-9, 6, (500, 1)),
                      torch.tensor([[65519.9, 65520.0, -1e-8, 3.4e38]])])
    import numpy
    numpy.save(lexirow.folder / "wide.npy", wide.numpy())
    for name, dtype in [("f16", torch.float16), ("bf16", torch.bfloat16)]:
        lexirow("convert", "wide.npy", "narrow.safetensors", "--dtype", name)
        read = load_file(str(lexirow.folder / "narrow.safetensors"))["token_embedding.weight"]
        assert read.dtype == dtype and torch.equal(read, wide.to(dtype)), name
    table = torch.randn(9, 4).to(torch.bfloat16)
    from safetensors.torch import save_file
    save_file({"model.embed_tokens.weight": table}, str(lexirow.folder / "bf.safetensors"))
    lexirow("convert", "bf.safetensors", "f32.safetensors")
    read = load_file(str(lexirow.folder / "f32.safetensors"))["token_embedding.weight"]
    assert torch.equal(read, table.float())
    torch.save({"w": table}, str(lexirow.folder / "m.pt"))
    done = subprocess.run([lexirow.program, "info", "m.pt"], cwd=lexirow.folder, capture_output=True,
                          check=False)
    assert done.returncode == 1 and b"save_file" in done.stderr, done.stderr


def skip(why):
    print(f"skipped: {why}")
    return SKIPPED


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", required=True)
    arguments = parser.parse_args()
    if not VENV.exists():
        return skip("scripts/fetch_test_data has not made build/parity-venv")
    if arguments.only == "torch":
        # Debian's PyTorch with its own NumPy; of the venv only safetensors, behind it.
        sys.path += [str(path) for path in VENV.parents[1].glob("lib/python3*/site-packages")]
        try:
            import torch  # noqa: F401
        except ImportError:
            debian = "/usr/bin/python3"
            if os.path.realpath(sys.executable) != os.path.realpath(debian) and os.path.exists(debian):
                os.execv(debian, [debian, *sys.argv])
            return skip("python3-torch is not installed")
    elif pathlib.Path(sys.prefix) != VENV.parents[1]:
        os.execv(VENV, [str(VENV), *sys.argv])
    if arguments.only == "fasttext" and not shutil.which("fasttext"):
        return skip("fasttext is not installed")
    with tempfile.TemporaryDirectory() as folder:
        lexirow = Lexirow(os.path.abspath(arguments.program), pathlib.Path(folder))
        globals()[f"{arguments.only}_part"](lexirow)
    return 0


if __name__ == "__main__":
    sys.exit(main())
