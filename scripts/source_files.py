"""What the checks of scripts/ share: which files are the project's, and how they report."""

import argparse
import pathlib
import re
import subprocess
import sys

CPP_SUFFIXES = (".h", ".cpp")
TOP_FOLDERS_OF_CPP = ("src", "include", "tests", "examples", "bench", "fuzz", "python")


def tracked_files(root):
    """Paths relative to root, in byte order: what git tracks or would track, else what is there."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = [name for name in listing.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in pathlib.Path(root).rglob("*")
                 if path.is_file() and not path.relative_to(root).parts[0].startswith((".git", "build"))]
    return sorted(set(name for name in names if (pathlib.Path(root) / name).is_file()))


def cpp_files(root):
    return [name for name in tracked_files(root)
            if name.endswith(CPP_SUFFIXES) and name.split("/")[0] in TOP_FOLDERS_OF_CPP]


def read(root, name):
    return (pathlib.Path(root) / name).read_text(encoding="utf-8")


_COMMENT_OR_STRING = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'",
    re.DOTALL)


def blank_comments(text, strings=False):
    """The text with comments (and string literals) turned into spaces; lines and columns stay."""
    def blank(match):
        piece = match.group(0)
        if not strings and not piece.startswith(("//", "/*")):
            return piece
        return re.sub(r"[^\n]", " ", piece)
    return _COMMENT_OR_STRING.sub(blank, text)


def root_argument(description):
    """A parser with the --root every check takes; tests point it at planted trees."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parent.parent),
                        help="the checkout to look at (default: this one)")
    return parser


def report(check, problems, looked_at):
    """Prints the problems; the exit status. A check that saw nothing has not passed."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{check}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        return 1
    if not looked_at:
        print(f"{check}: found nothing to look at")
        return 1
    print(f"{check}: {looked_at} files, no problem")
    return 0


def run(main):
    sys.dont_write_bytecode = True
    sys.exit(main())
