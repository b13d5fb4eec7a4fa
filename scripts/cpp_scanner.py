"""A small reader of C++ that finds functions with their comments, parameters and lengths.

It knows scopes (namespaces and classes), not types: enough for the habits that check_docs holds
the sources to, and quick enough to run under ctest.
"""

import dataclasses
import re

from source_files import blank_comments


@dataclasses.dataclass
class Parameter:
    name: str
    type: str


@dataclasses.dataclass
class Function:
    name: str
    scope: str                 # "namespace", or the name of the class
    access: str                # "public", "protected" or "private"
    head: str                  # the declaration without its body
    first_line: int
    last_line: int
    has_body: bool
    doc: list                  # the /// lines above it, and a ///< behind it, without the slashes
    parameters: list


def matching(code, start):
    """Index of the bracket that closes the one at `start`; the end of the text if none does."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    close, depth = pairs[code[start]], 0
    for i in range(start, len(code)):
        if code[i] == code[start]:
            depth += 1
        elif code[i] == close:
            depth -= 1
            if depth == 0:
                return i
    return len(code) - 1


def _without_template(head):
    """The head of a declaration without its leading `template <...>` and attributes."""
    head = head.strip()
    while True:
        if head.startswith("[["):
            head = head[head.index("]]") + 2:].strip()
        elif re.match(r"template\s*<", head):
            depth = 0
            for i, letter in enumerate(head):
                depth += {"<": 1, ">": -1}.get(letter, 0)
                if letter == ">" and depth == 0:
                    break
            head = head[i + 1:].strip()
        else:
            break
    return re.sub(r"^requires\s*\([^{;]*?\)\s*(?=[A-Za-z])", "", head)


_NOT_A_NAME = {"decltype", "alignas", "noexcept", "requires", "explicit", "if", "for", "while",
               "switch", "return", "sizeof", "static_assert", "__attribute__", "defined"}


def _function_name(head):
    """(name, index of its opening bracket) of a function's head, or None."""
    plain = _without_template(head)
    if re.match(r"(using|typedef|static_assert|friend)\b", plain):
        return None
    offset = len(head) - len(head[head.rindex(plain):]) if plain and plain in head else 0
    operator = re.search(r"\boperator\s*(\(\s*\)|\[\s*\]|[^\s\w(]+|[\w:&* ]+?)\s*\(", plain)
    if operator:
        return "operator" + operator.group(1).strip(), offset + operator.end() - 1
    for match in re.finditer(r"(~?[A-Za-z_]\w*)\s*\(", plain):
        before = plain[:match.start()]
        if match.group(1) in _NOT_A_NAME:
            continue
        if "=" in before or before.count("(") != before.count(")"):
            return None
        return match.group(1), offset + match.end() - 1
    return None


def split_top_level(text):
    """Splits at commas that stand outside of every bracket."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()]


def _parameters(head, opening):
    inside = head[opening + 1:matching(head, opening)]
    found = []
    for part in split_top_level(inside):
        part = re.sub(r"\s*=.*", "", part, flags=re.DOTALL)
        match = re.match(r"(.*[\s&*>])([A-Za-z_]\w*)(\[\d*\])?$", part, re.DOTALL)
        if match:
            found.append(Parameter(match.group(2), " ".join(match.group(1).split())))
        else:
            found.append(Parameter("", " ".join(part.split())))
    return found


def _doc(lines, first_line, last_line):
    """The /// block directly above line `first_line` (1-based), and ///< up to `last_line`."""
    above = []
    i = first_line - 2
    while i >= 0 and lines[i].strip().startswith("///"):
        above.insert(0, lines[i].strip()[3:])
        i -= 1
    for i in range(first_line - 1, min(last_line, len(lines))):
        behind = re.search(r"///<(.*)", lines[i])
        if behind:
            above.append(behind.group(1))
    return above


def _kind(head):
    plain = _without_template(head)
    if re.match(r"(inline\s+)?namespace\b", plain) or re.fullmatch(r"extern\s*", plain):
        return "namespace"
    if re.match(r"enum\b", plain):
        return "other"
    if re.match(r"(typedef\s+)?(class|struct|union)\b", plain) and "(" not in plain:
        return "class"
    named = _function_name(head)
    if not named:
        return "other"
    behind = head[matching(head, named[1]) + 1:]
    if re.search(r"(?<!:):(?!:)", behind) and re.search(r"[\w>]\s*$", behind):
        return "other"  # the braces of a member's initialiser: Foo() : a_{1} {
    return "function"


class _Scanner:
    def __init__(self, text):
        code = blank_comments(text, strings=True)
        # A string that was blanked leaves `extern    {`; preprocessor lines go altogether.
        self.code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                           lambda match: re.sub(r"[^\n]", " ", match.group(0)), code,
                           flags=re.MULTILINE)
        self.lines = text.split("\n")
        self.functions = []
        self.scopes = [("namespace", "public")]
        self.begin = None

    def line(self, index):
        return self.code.count("\n", 0, index) + 1

    def record(self, end, body_end=None):
        head = self.code[self.begin:end]
        named = _function_name(head)
        if not named:
            return
        first, last = self.line(self.begin), self.line(body_end if body_end else end)
        self.functions.append(Function(
            named[0], self.scopes[-1][0], self.scopes[-1][1], " ".join(head.split()), first, last,
            body_end is not None, _doc(self.lines, first, self.line(end)),
            _parameters(head, named[1])))

    def open_brace(self, i):
        head = self.code[self.begin:i]
        kind = _kind(head)
        if kind == "namespace":
            self.scopes.append(("namespace", "public"))
        elif kind == "class":
            plain = _without_template(head)
            name = re.match(r"(?:typedef\s+)?(?:class|struct|union)\s*(?:alignas\s*\S+\s+)?(\w*)", plain)
            access = "private" if plain.startswith("class") else "public"
            self.scopes.append((name.group(1) or "unnamed", access))
        elif kind == "function":
            end = matching(self.code, i)
            self.record(i, end)
            self.begin = None
            return end
        else:
            return matching(self.code, i)
        self.begin = None
        return i

    def scan(self):
        i = 0
        while i < len(self.code):
            letter = self.code[i]
            if letter == "}":
                if len(self.scopes) > 1:
                    self.scopes.pop()
                self.begin = None
            elif letter == ";":
                if self.begin is not None:
                    self.record(i)
                self.begin = None
            elif not letter.isspace():
                if self.begin is None:
                    self.begin = i
                if letter == "(":
                    i = matching(self.code, i)
                elif letter == "{":
                    i = self.open_brace(i)
                elif letter == ":":
                    label = self.code[self.begin:i].strip()
                    if label in ("public", "protected", "private"):
                        self.scopes[-1] = (self.scopes[-1][0], label)
                        self.begin = None
            i += 1
        return self.functions


def functions(text):
    """Every function that a file declares or defines, in order; local lambdas are not listed."""
    return _Scanner(text).scan()
