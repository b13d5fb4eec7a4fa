#!/usr/bin/env python3
"""The PyTorch side of `scripts/bench_vs_pytorch`: the same work as `lexirow bench CASE`.

    bench/pytorch_cases.py CASE '{"vocab_size": 256, "dim": 64, ...}'

Prints one JSON object: seconds (the median), tokens_per_second. Every case is written as its users
write it; where PyTorch has two usual ways, the sizes name one ("way").
"""

import json
import statistics
import sys
import time

import numpy
import torch
from torch.nn import functional


def zipf_ids(sizes, count):
    """The very ids that `lexirow bench` draws: SplitMix64 (Steele et al. 2014) by Zipf's law."""
    with numpy.errstate(over="ignore"):
        states = (numpy.arange(1, count + 1, dtype=numpy.uint64)
                  * numpy.uint64(0x9E3779B97F4A7C15) + numpy.uint64(sizes.get("seed", 1)))
        states = (states ^ (states >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        states = (states ^ (states >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        states ^= states >> numpy.uint64(31)
    uniform = (states >> numpy.uint64(11)).astype(numpy.float64) * 2.0 ** -53
    sums = numpy.cumsum(1.0 / numpy.arange(1, sizes["vocab_size"] + 1))
    ids = numpy.searchsorted(sums, uniform * sums[-1], side="right")
    return torch.from_numpy(numpy.minimum(ids, sizes["vocab_size"] - 1))


def causal_mean(rows, way):
    """The mean of each position's row and those before it, [B, T, D]."""
    length = rows.shape[1]
    if way == "matrix":
        weights = torch.tril(torch.ones(length, length))
        return (weights / weights.sum(1, keepdim=True)) @ rows
    counts = torch.arange(1, length + 1, dtype=torch.float32).view(1, -1, 1)
    return rows.cumsum(1) / counts


def last_rows(rows, window):
    """The last `window` rows side by side, the oldest first, [B, T, W * D]."""
    padded = functional.pad(rows, (0, 0, window - 1, 0))
    return torch.cat([padded[:, i:i + rows.shape[1]] for i in range(window)], dim=2)


def decayed(rows, rate):
    """The exponential average up to each position, by one product with [T, T] weights."""
    places = torch.arange(rows.shape[1], dtype=torch.float32)
    weights = torch.tril(rate ** (places[:, None] - places[None]).clamp(min=0))
    return (weights / weights.sum(1, keepdim=True)) @ rows


class Mixer(torch.nn.Module):
    """Features side by side, by the spelling of `--mixer`: mean, concat:W, decay:R."""

    def __init__(self, spelling, dim):
        super().__init__()
        self.parts = []
        self.width = 0
        for name, *numbers in (part.split(":") for part in spelling.split("+")):
            if name == "mean":
                self.parts.append(lambda rows: causal_mean(rows, "cumsum"))
            elif name == "concat":
                self.parts.append(lambda rows, w=int(numbers[0]): last_rows(rows, w))
            else:
                self.parts += [lambda rows, r=float(rate): decayed(rows, r) for rate in numbers]
            self.width += dim * (int(numbers[0]) if name == "concat" else max(1, len(numbers)))

    def forward(self, rows):
        features = [part(rows) for part in self.parts]
        return features[0] if len(features) == 1 else torch.cat(features, dim=2)


class Hidden(torch.nn.Module):
    """A hidden layer after the first: a norm before it, what it read added to what it gives."""

    def __init__(self, width, dropout):
        super().__init__()
        self.layer = torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, width),
                                         torch.nn.GELU(), torch.nn.Dropout(dropout))

    def forward(self, state):
        return state + self.layer(state)


class Model(torch.nn.Module):
    """Table, mixer, MLP, head: without more in the sizes the model of `--preset plain`; with more
    than one layer, residual ones with layer norms."""

    def __init__(self, sizes):
        super().__init__()
        dim, hidden = sizes["dim"], sizes.get("hidden", sizes["dim"])
        layers, dropout = sizes.get("layers", 1), sizes.get("dropout", 0)
        self.table = torch.nn.Embedding(sizes["vocab_size"], dim)
        self.mixer = Mixer(sizes.get("mixer", "mean"), dim)
        parts = [torch.nn.Linear(self.mixer.width, hidden), torch.nn.GELU()]
        if dropout > 0:
            parts.append(torch.nn.Dropout(dropout))
        if layers > 1:
            parts += [Hidden(hidden, dropout) for _ in range(layers - 1)]
            parts.append(torch.nn.LayerNorm(hidden))
        self.mlp = torch.nn.Sequential(*parts, torch.nn.Linear(hidden, dim))
        self.head = torch.nn.Linear(dim, sizes["vocab_size"])

    def forward(self, ids):
        return self.head(self.mlp(self.mixer(self.table(ids))))


def lookup(sizes):
    table = torch.nn.Embedding(sizes["vocab_size"], sizes["dim"])
    ids = zipf_ids(sizes, sizes["batch"] * sizes["context"])

    def work():
        with torch.no_grad():
            table(ids)
    return work, len(ids)


def scatter_add(sizes):
    ids = zipf_ids(sizes, sizes["batch"] * sizes["context"])
    gradient = torch.randn(len(ids), sizes["dim"])

    def work():
        torch.ops.aten.embedding_dense_backward(gradient, ids, sizes["vocab_size"], -1, False)
    return work, len(ids)


def mixer(sizes):
    rows = torch.randn(sizes["batch"], sizes["context"], sizes["dim"], requires_grad=True)
    gradient = torch.randn_like(rows)

    def work():
        rows.grad = None
        causal_mean(rows, sizes.get("way", "cumsum")).backward(gradient)
    return work, sizes["batch"] * sizes["context"]


def head(sizes):
    count = sizes["batch"] * sizes["context"]
    layer = torch.nn.Linear(sizes["dim"], sizes["vocab_size"])
    hidden = torch.randn(count, sizes["dim"], requires_grad=True)
    labels = zipf_ids(sizes, count)

    def work():
        layer.zero_grad()
        hidden.grad = None
        functional.cross_entropy(layer(hidden), labels).backward()
    return work, count


def step(sizes):
    torch.manual_seed(1)
    model = Model(sizes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    batch, context = sizes["batch"], sizes["context"]
    ids = zipf_ids(sizes, 32 * batch * context + 1)
    begins = torch.randint(0, len(ids) - context - 1, (4096, batch)).tolist()
    done = [0]

    def work():
        windows = torch.stack([ids[b:b + context + 1] for b in begins[done[0] % len(begins)]])
        done[0] += 1
        loss = functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1),
                                        windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        if sizes.get("clip", 0) > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), sizes["clip"])
        optimizer.step()
    return work, batch * context


def optimizer(sizes):
    vocab, dim = sizes["vocab_size"], sizes["dim"]
    touched = min(sizes["batch"] * sizes["context"], vocab)
    table = torch.nn.Parameter(torch.randn(vocab, dim))
    rows = torch.arange(touched) * vocab // touched
    values = torch.randn(touched, dim)
    if sizes.get("row_updates") == "lazy":
        update = torch.optim.SparseAdam([table], lr=1e-3)
        table.grad = torch.sparse_coo_tensor(rows[None], values, (vocab, dim)).coalesce()
    else:
        update = torch.optim.AdamW([table], lr=1e-3, weight_decay=0.01)
        table.grad = torch.zeros(vocab, dim).index_add_(0, rows, values)
    return update.step, sizes["batch"] * sizes["context"]


def generate(sizes):
    model = Model(sizes).eval()
    ids = zipf_ids(sizes, sizes["context"])[None]

    def work():
        with torch.no_grad():
            model(ids)[0, -1]
    return work, 1


CASES = {"lookup": lookup, "scatter-add": scatter_add, "mixer": mixer, "head": head, "step": step,
         "optimizer": optimizer, "generate": generate}


def measure(work, seconds):
    work()
    times = []
    start = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        work()
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def main():
    name, sizes = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(sizes.get("threads", 2))
    torch.manual_seed(sizes.get("seed", 1))
    work, tokens = CASES[name](sizes)
    seconds = measure(work, sizes.get("seconds", 1))
    print(json.dumps({"seconds": seconds, "tokens_per_second": tokens / seconds,
                      "version": torch.__version__}))


if __name__ == "__main__":
    main()
