#!/usr/bin/env python3
"""Times one training step here and in PyTorch, in turns, on the same text and sizes.

The model is that of `--preset plain`: embedding, causal running mean, Linear-GELU-Linear, head,
AdamW. Both sides use the same number of threads. Prints each round, the medians and their ratio
(theirs / ours). Needs build/release/lexirow and Debian's python3-torch.

    bench/step_vs_pytorch.py [TEXT] [--dim 64] [--batch 32] [--context 64] [--threads 2]
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TORCH_SIDE = r"""
import sys, time, torch
text, dim, batch, context, threads, steps = sys.argv[1], *map(int, sys.argv[2:])
torch.set_num_threads(threads)
torch.manual_seed(1)
data = open(text, encoding="utf-8").read()
letters = sorted(set(data))
ids = torch.tensor([letters.index(c) for c in data[:400000]])
table = torch.nn.Embedding(len(letters), dim)
mlp = torch.nn.Sequential(torch.nn.Linear(dim, dim), torch.nn.GELU(), torch.nn.Linear(dim, dim))
head = torch.nn.Linear(dim, len(letters))
parameters = [*table.parameters(), *mlp.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.01)
counts = torch.arange(1, context + 1, dtype=torch.float32).view(1, -1, 1)
begins = torch.randint(0, len(ids) - context - 1, (steps, batch))
def step(i):
    windows = torch.stack([ids[b : b + context + 1] for b in begins[i].tolist()])
    mixed = table(windows[:, :-1]).cumsum(1) / counts
    logits = head(mlp(mixed))
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for i in range(20):
    step(i)
start = time.perf_counter()
for i in range(20, steps):
    step(i)
print((time.perf_counter() - start) / (steps - 20))
"""


def ours(arguments, folder, steps):
    out = os.path.join(folder, "model")
    shutil.rmtree(out, ignore_errors=True)
    command = [os.path.join(ROOT, "build/release/lexirow"), "train", arguments.text, "--out", out,
               "--preset", "plain", "--dim", str(arguments.dim), "--batch", str(arguments.batch),
               "--context", str(arguments.context), "--threads", str(arguments.threads),
               "--steps", str(steps), "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return report["seconds"] / report["steps"]


def theirs(arguments, steps):
    command = ["/usr/bin/python3", "-c", TORCH_SIDE, arguments.text, str(arguments.dim),
               str(arguments.batch), str(arguments.context), str(arguments.threads), str(steps)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="?", default=os.path.join(ROOT, "data/harbour.txt"))
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    version = subprocess.run(["/usr/bin/python3", "-c", "import torch; print(torch.__version__)"],
                             capture_output=True, text=True)
    if version.returncode != 0:
        sys.exit("PyTorch is missing: apt-get install python3-torch")
    print(f"PyTorch {version.stdout.strip()}, {platform.machine()}, {arguments.threads} threads, "
          f"D {arguments.dim}, B {arguments.batch}, T {arguments.context}")
    left, right = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            left.append(ours(arguments, folder, arguments.steps))
            right.append(theirs(arguments, arguments.steps))
            print(f"  lexirow {1e3 * left[-1]:.2f} ms a step, PyTorch {1e3 * right[-1]:.2f} ms")
    ours_median, theirs_median = statistics.median(left), statistics.median(right)
    print(f"median: lexirow {1e3 * ours_median:.2f} ms, PyTorch {1e3 * theirs_median:.2f} ms, "
          f"ratio {theirs_median / ours_median:.2f}")


if __name__ == "__main__":
    main()
