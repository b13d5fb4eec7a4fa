#!/usr/bin/env python3
"""Records training runs of small language models in PyTorch, for `lexirow replay`.

Every run trains one plain PyTorch module on one batch, the same at every step, and writes what
another engine needs to repeat it: sizes, seed, optimizer, ids, labels, mask; the loss of every step
in float32 and, from the same draw widened, in float64; and facts of the first and the last step.
docs/replay.md tells every field. Needs PyTorch (1.13 or 2.x) and nothing else.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import tempfile

torch = None  # imported when a run is made: it takes seconds, and --help needs none of it

IGNORED = -100
FIRST_LOGITS = 6
# Beyond this relative difference between float32 and float64 rounding alone decides where a run
# goes, and a comparison says nothing about the engine.
LARGEST_GAP = 1e-4
MODELS = "current (or none), mean, window:W, concat:W, full-mean, centred"
OPTIMIZERS = ("sgd", "adamw", "adagrad")
MASKS = ("none", "right", "left", "holes")


class Refused(Exception):
    """A run that cannot be recorded; the text says why."""


class Options(dict):
    """What describes one run: every option of the command line under its name."""

    def __getattr__(self, name):
        return self[name]


# ---------------------------------------------------------------- the models

def mixer_of(model):
    """("mean", 0), ("window", W): the mixer's name and its window."""
    name, _, width = model.partition(":")
    name = {"current": "none"}.get(name, name)
    if name in ("window", "concat"):
        if not width.isdigit() or int(width) < 1:
            raise Refused(f"--model {model}: write {name}:W with W 1 or more")
        return name, int(width)
    if name not in ("none", "mean", "full-mean", "centred") or width:
        raise Refused(f"--model {model} is unknown; the models are {MODELS}")
    return name, 0


def sees(mixer, window, length):
    """[T, T] of 0 and 1: which positions s the context of position t is the mean of."""
    t = torch.arange(length).unsqueeze(1)
    s = torch.arange(length).unsqueeze(0)
    return {"none": s == t, "mean": s <= t, "window": (s <= t) & (s > t - window),
            "full-mean": (s >= 0) & (t >= 0), "centred": (s - t).abs() <= 1}[mixer]


def make_module(options):
    """The plain module. Its parameters are drawn in the order of their declaration."""
    mixer, window = mixer_of(options.model)

    class LanguageModel(torch.nn.Module):
        def __init__(self):
            super().__init__()
            dim, hidden = options.dim, options.hidden
            self.token_embedding = torch.nn.Embedding(options.vocab_size, dim,
                                                      padding_idx=options.padding_idx)
            if hidden > 0:
                features = window * dim if mixer == "concat" else dim
                self.mixer = torch.nn.Sequential(torch.nn.Linear(features, hidden),
                                                 torch.nn.GELU(), torch.nn.Linear(hidden, dim))
            self.lm_head = torch.nn.Linear(dim, options.vocab_size, bias=options.bias)
            if options.tied:
                self.lm_head.weight = self.token_embedding.weight

        def context(self, rows, mask):
            """What position t knows: [B, T, D], or [B, T, W*D]. Masked rows take no part."""
            rows = rows * mask.unsqueeze(-1)
            length = rows.shape[1]
            if mixer == "concat":
                before = torch.nn.functional.pad(rows, (0, 0, window - 1, 0))
                return torch.cat([before[:, k:k + length] for k in range(window)], dim=-1)
            weights = sees(mixer, window, length).to(rows) * mask.unsqueeze(1)
            return weights @ rows / weights.sum(-1, keepdim=True).clamp(min=1)

        def forward(self, ids, mask):
            states = self.context(self.token_embedding(ids), mask)
            return self.lm_head(self.mixer(states) if options.hidden > 0 else states)

    torch.manual_seed(options.seed)
    return LanguageModel()


def widened(options, module):
    """The same model in float64, from the float32 draw."""
    wide = make_module(options).double()
    with torch.no_grad():
        for target, source in zip(wide.parameters(), module.parameters()):
            target.copy_(source)
    return wide


def make_optimizer(options, parameters):
    if options.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=options.lr, momentum=options.momentum,
                               weight_decay=options.weight_decay)
    if options.optimizer == "adagrad":
        return torch.optim.Adagrad(parameters, lr=options.lr, weight_decay=options.weight_decay)
    return torch.optim.AdamW(parameters, lr=options.lr, betas=tuple(options.betas),
                             eps=options.eps, weight_decay=options.weight_decay)


# ---------------------------------------------------------------- the data

def make_mask(options, draw):
    """[B][T] of 1 and 0, or None. The first sequence is whole but for holes."""
    if options.mask == "none":
        return None
    rows = []
    for b in range(options.batch):
        length = options.length if b == 0 else draw.randint(1, options.length)
        padding = [0] * (options.length - length)
        if options.mask == "holes":
            rows.append([int(draw.random() < 0.7) for _ in range(options.length)])
        elif options.mask == "left":
            rows.append(padding + [1] * length)
        else:
            rows.append([1] * length + padding)
    return rows


def make_data(options):
    """Ids, labels (the next id) and mask. Masked positions hold the pad id where there is one and
    have no label; neither has a position before one, nor the share --ignore of the others."""
    draw = random.Random(options.data_seed)
    ordinary = [i for i in range(options.vocab_size) if i != options.padding_idx]
    pad = options.padding_idx or 0
    tokens = [[draw.choice(ordinary) for _ in range(options.length + 1)]
              for _ in range(options.batch)]
    mask = make_mask(options, draw)
    visible = mask or [[1] * options.length for _ in range(options.batch)]
    ids, labels = [], []
    for row, seen in zip(tokens, visible):
        ids.append([token if here else pad for token, here in zip(row, seen)])
        counts = [here and after for here, after in zip(seen, seen[1:] + [1])]
        labels.append([token if count and draw.random() >= options.ignore else IGNORED
                       for token, count in zip(row[1:], counts)])
    if all(label == IGNORED for row in labels for label in row):
        raise Refused("no label counts; make --length longer, or choose another --mask, --ignore "
                      "or --data-seed")
    return ids, labels, mask


# ---------------------------------------------------------------- recording

def train(options, module, ids, labels, mask):
    """The loss of every step before its update, and the facts."""
    kind = next(module.parameters()).dtype
    ids, labels = torch.tensor(ids), torch.tensor(labels)
    mask = torch.ones(ids.shape) if mask is None else torch.tensor(mask)
    optimizer = make_optimizer(options, module.parameters())
    losses, first = [], None
    for _ in range(options.steps):
        optimizer.zero_grad(set_to_none=True)
        logits = module(ids, mask.to(kind))
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(),
                                                 ignore_index=IGNORED)
        loss.backward()
        losses.append(loss.item())
        if first is None:
            gradient = module.token_embedding.weight.grad
            first = {
                "embedding_grad_norm": gradient.double().norm().item(),
                "embedding_rows_with_gradient":
                    (gradient != 0).any(dim=1).nonzero().flatten().tolist(),
                "logits_0_0": logits[0, 0, :FIRST_LOGITS].tolist(),
            }
        optimizer.step()
    sums = module.token_embedding.weight.detach().double().sum(dim=1).tolist()
    return losses, first, sums


def check_gap(losses, wide):
    """Refuses losses that are no numbers, and runs in which rounding decides."""
    for step, (narrow, double) in enumerate(zip(losses, wide)):
        if narrow != narrow or abs(narrow) == float("inf"):
            raise Refused(f"the loss of step {step} is {narrow}; a lower --lr keeps it finite")
        gap = abs(narrow - double) / max(abs(narrow), abs(double), 1e-300)
        if gap > LARGEST_GAP:
            raise Refused(
                f"float32 and float64 part: the losses of step {step} are {narrow:.9g} and "
                f"{double:.9g}, a relative gap of {gap:.1e}, and beyond {LARGEST_GAP:g} rounding "
                "alone decides where a run goes; record fewer --steps or a lower --lr")


def record(options):
    """One case as the file holds it. Raises Refused with the case's name."""
    try:
        mixer, window = mixer_of(options.model)
        ids, labels, mask = make_data(options)
        module = make_module(options)
        wide_module = widened(options, module)
        losses, first, sums = train(options, module, ids, labels, mask)
        wide_losses = train(options, wide_module, ids, labels, mask)[0]
        check_gap(losses, wide_losses)
    except Refused as refusal:
        raise Refused(f"case {options.name}: {refusal}") from None
    case = {"name": options.name, "model": {"none": "current"}.get(mixer, mixer)}
    if window:
        case["window"] = window
    for key in ("vocab_size", "dim", "hidden", "bias", "batch", "length", "seed", "optimizer", "lr"):
        case[key] = options[key]
    case.update({"sgd": {"momentum": options.momentum},
                 "adamw": {"betas": list(options.betas), "eps": options.eps},
                 "adagrad": {}}[options.optimizer])
    case.update(weight_decay=options.weight_decay, steps=options.steps,
                padding_idx=options.padding_idx, tied=options.tied, input_ids=ids, labels=labels,
                attention_mask=mask, losses=losses, losses_float64=wide_losses, first_step=first,
                final_embedding_row_sum=sums)
    return case


# ---------------------------------------------------------------- command line

def completed(options):
    """Fills in the defaults that depend on other options, and checks what depends on others."""
    options = Options(options)
    mixer, window = mixer_of(options.model)
    if options.hidden is None:
        options["hidden"] = 0 if mixer == "none" else options.dim
    if options.bias is None:
        options["bias"] = not options.tied
    if options.weight_decay is None:
        options["weight_decay"] = 0.01 if options.optimizer == "adamw" else 0.0
    if options.name is None:
        options["name"] = "-".join(
            [options.model.replace(":", ""), options.optimizer] + ["tied"] * options.tied +
            [options.mask] * (options.mask != "none") + [f"seed{options.seed}"])
    pad = options.padding_idx
    problems = [
        (mixer == "concat" and window > 1 and options.hidden == 0,
         "concat puts rows side by side, which only an MLP brings back: --hidden must be above 0"),
        (options.tied and pad is not None,
         "a tied head together with --padding-idx cannot be replayed: PyTorch scores the pad row "
         "as a token that could follow, and lexirow leaves it out"),
        (pad is not None and not 0 <= pad < options.vocab_size,
         f"--padding-idx {pad} is no row of {options.vocab_size}"),
        (pad is not None and options.vocab_size == 1, "the only row cannot be the pad row"),
        (options.momentum != 0 and options.optimizer != "sgd", "only sgd has a --momentum"),
    ]
    for wrong, reason in problems:
        if wrong:
            raise Refused(f"case {options.name}: {reason}")
    return options


def suite(defaults, seed):
    """Runs that differ in everything a run can differ in. `seed` moves all their seeds."""
    runs = [
        dict(name="bigram", model="current", optimizer="sgd", lr=0.5, momentum=0.9),
        dict(name="bigram-mlp-masked", model="current", hidden=12, mask="holes", ignore=0.2,
             optimizer="adamw", vocab_size=19, dim=6),
        dict(name="mean-adamw", model="mean", optimizer="adamw", vocab_size=41, dim=24, hidden=10,
             batch=5, length=13, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
        dict(name="mean-left-padding", model="mean", mask="left", padding_idx=3, batch=6, length=9,
             optimizer="adamw"),
        dict(name="mean-right-padding-sgd", model="mean", mask="right", padding_idx=0,
             optimizer="sgd", lr=0.3, momentum=0.8, weight_decay=0.02),
        dict(name="mean-holes-adagrad", model="mean", mask="holes", optimizer="adagrad", lr=0.02,
             ignore=0.3),
        dict(name="mean-tied-holes", model="mean", tied=True, mask="holes", optimizer="sgd",
             lr=0.05),
        dict(name="mean-tied-adamw-bias", model="mean", tied=True, bias=True, optimizer="adamw",
             lr=0.003),
        dict(name="mean-no-mlp", model="mean", hidden=0, bias=False, optimizer="adagrad", lr=0.1,
             weight_decay=0.01),
        dict(name="window-left-padding", model="window:3", mask="left", padding_idx=1,
             optimizer="adamw", batch=3, length=11),
        dict(name="window-sgd", model="window:5", optimizer="sgd", lr=0.2, dim=5, hidden=7),
        dict(name="concat-adamw", model="concat:4", optimizer="adamw", dim=6, hidden=20),
        dict(name="concat-holes-tied", model="concat:2", tied=True, mask="holes", optimizer="sgd",
             lr=0.05, momentum=0.5),
        dict(name="full-mean", model="full-mean", optimizer="adamw", mask="right"),
        dict(name="centred", model="centred", optimizer="sgd", lr=0.3),
        dict(name="one-sequence", model="mean", batch=1, length=7, optimizer="adamw"),
        dict(name="one-position", model="mean", batch=6, length=1, optimizer="sgd", lr=0.4),
        dict(name="one-of-each", model="window:2", batch=1, length=1, vocab_size=3, dim=1,
             hidden=1, optimizer="sgd", lr=0.1),
        dict(name="wider", model="mean", vocab_size=300, dim=48, hidden=96, batch=8, length=32,
             optimizer="adamw", lr=0.003),
    ]
    options = []
    for place, run in enumerate(runs):
        chosen = dict(defaults, seed=seed + 7 * place, data_seed=seed + 1000 + place)
        options.append(dict(chosen, **run))
    return options


def write_atomically(path, text):
    """A reader sees the old file or the whole new one."""
    folder = path.parent
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def as_json(cases):
    """A field a line, so that the file can be read and compared by people."""
    lines = []
    for case in cases:
        fields = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}"
                  for key, value in case.items()]
        lines.append(" {\n" + ",\n".join(fields) + "\n }")
    source = json.dumps(f"PyTorch {torch.__version__}, CPU, one thread")
    return f'{{"source": {source}, "cases": [\n' + ",\n".join(lines) + "\n]}\n"


def at_least(least, kind=int):
    def parse(text):
        value = kind(text)
        if not value >= least or value == float("inf"):
            raise argparse.ArgumentTypeError(f"{text}: must be {least} or more")
        return value
    parse.__name__ = "number"
    return parse


def share(text):
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be from 0 to below 1")
    return value


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n"
               "  scripts/record_trajectories.py --out runs.json --model mean --optimizer adamw\n"
               "  scripts/record_trajectories.py --out runs.json --suite\n"
               "  lexirow replay runs.json\n\n"
               "exit codes: 0 written; 1 a run was refused, or the file could not be written\n"
               "(nothing is written then); 2 misused")
    add = parser.add_argument
    add("--out", type=pathlib.Path, required=True, metavar="FILE", help="the file to write")
    add("--append", action="store_true", help="keep the cases that FILE already holds")
    add("--suite", action="store_true",
        help="record a set of runs that differ in model, sizes, optimizer, mask and tying; the "
             "options below say what the set leaves open, and --seed moves all its seeds")
    add("--name", help="the case's name (default: made of the options)")
    add("--model", default="mean", help=f"{MODELS} (default: mean)")
    add("--vocab-size", type=at_least(1), default=24, metavar="V", help="rows (default: 24)")
    add("--dim", type=at_least(1), default=8, metavar="D", help="width of a row (default: 8)")
    add("--hidden", type=at_least(0), metavar="H",
        help="width of the MLP, 0 for none (default: 0 for current, else the dim)")
    add("--bias", action=argparse.BooleanOptionalAction, default=None,
        help="a bias of the head (default: untied yes, tied no)")
    add("--tied", action="store_true", help="the head's weight is the table")
    add("--batch", type=at_least(1), default=4, metavar="B", help="sequences (default: 4)")
    add("--length", type=at_least(1), default=8, metavar="T", help="positions (default: 8)")
    add("--padding-idx", type=int, metavar="ID", help="a pad row (default: none)")
    add("--mask", choices=MASKS, default="none",
        help="padding behind (right) or before (left) sequences of drawn lengths, or holes "
             "anywhere (default: none)")
    add("--ignore", type=share, default=0.0, metavar="SHARE",
        help="share of the labels that do not count (default: 0)")
    add("--optimizer", choices=OPTIMIZERS, default="adamw", help="(default: adamw)")
    add("--lr", type=at_least(0, float), default=0.01, help="learning rate (default: 0.01)")
    add("--momentum", type=share, default=0.0, help="of sgd (default: 0)")
    add("--betas", type=share, nargs=2, default=(0.9, 0.999), metavar="BETA",
        help="of adamw (default: 0.9 0.999)")
    add("--eps", type=at_least(1e-30, float), default=1e-8, help="of adamw (default: 1e-8)")
    add("--weight-decay", type=at_least(0, float), metavar="X",
        help="(default: 0.01 for adamw, else 0)")
    add("--steps", type=at_least(1), default=30, metavar="N", help="(default: 30)")
    add("--seed", type=at_least(0), default=1, metavar="N",
        help="draws the parameters (default: 1)")
    add("--data-seed", type=at_least(0), default=1, metavar="N",
        help="draws ids, mask and ignored labels (default: 1)")
    return parser


def earlier_cases(arguments):
    if not arguments.append or not arguments.out.exists():
        return []
    try:
        return json.loads(arguments.out.read_text(encoding="utf-8"))["cases"]
    except (ValueError, KeyError, TypeError):
        raise Refused(f"--append: {arguments.out} holds no recorded runs") from None


def load_torch():
    global torch
    try:
        import torch
    except ImportError:
        raise Refused("PyTorch is not there; on Debian: apt-get install python3-torch, then run "
                      "this with /usr/bin/python3") from None
    torch.set_num_threads(1)


def run(arguments):
    if not arguments.out.absolute().parent.is_dir():
        raise Refused(f"--out {arguments.out}: its folder does not exist")
    given = {key: value for key, value in vars(arguments).items()
             if key not in ("out", "append", "suite")}
    chosen = suite(given, arguments.seed) if arguments.suite else [given]
    chosen = [completed(options) for options in chosen]
    cases = earlier_cases(arguments)
    names = {case["name"] for case in cases}
    for options in chosen:
        if options.name in names:
            raise Refused(f"case {options.name}: the file holds one of that name; give another "
                          "--name")
        names.add(options.name)
    load_torch()
    cases += [record(options) for options in chosen]
    write_atomically(arguments.out, as_json(cases))
    print(f"{arguments.out}: {len(cases)} case{'s' if len(cases) > 1 else ''}")


def main():
    arguments = make_parser().parse_args()
    try:
        run(arguments)
    except (Refused, OSError) as error:
        print(f"record_trajectories: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
