"""Bodies that nobody should send, from a seed: each is of some kind, and may by chance be one that is in order."""

import json
import random

from tests.collect.bags import drawn, values

MARK = "pl4nted"
"""Stands in many of them, and must not come back."""
DEEP = 10**6
_NUMBERS = (
    "NaN", "Infinity", "-Infinity", "nan", "1e400", "-1e400", "1e-400", "9" * 5000, "-" + "9" * 400, "01", "+20", "20.",
    ".5", "0x14", "-0", "-0.0", "20.0", "2e1", "2E+1", "20.00000000000000000001", "0.5e0", "9007199254740993", "1_8",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "20.5", "-20", "1e22", "0.30000000000000004",
    "5" + "0" * 400 + "e-400", "٢٠", "２０",
)  # fmt: skip
_VALUES = (
    *_NUMBERS, "true", "false", "null", "[]", "{}", "undefined", '""', '"\\ud800"', '"\\udc00\\ud800"',
    '"\\ud834\\udd1e"',
    '"\\u0000"', '"\x00"', '"\\x41"', "'news'", "news", '"20"', '"news "', '"NEWS"', '"ne\\u0077s"', '"x1F"', '"X1f"',
    '"x1f "', '" x07"', '"x07\\n"', '"x' + "0" * 31 + '4\\t"',
    '"x1"', '"x1f1f"', '"xff"', '"x20"', '"x07"', '"1f"', '"x 1"', '"x1\\n"', '"x' + "0" * 31 + '5"',
    '"x' + "0" * 32 + '"',
    '"x' + "f" * 32 + '"', '[2,"jazz"]', '["jazz",2]', '[2,"jazz",1]', "[2]", '[2.0,"jazz"]', '[[2],["jazz"]]',
    '[2,"rock"]', '[4,"jazz"]', '[true,"jazz"]', '["2","jazz"]', '[2," jazz"]', '"(2,jazz)"', '{"x":true,"y":"p"}',
    '{"x":1}', '{"y":"p"}', '{"x":1,"y":"p"}', '{"y":"p","x":1}', '{"x":1,"y":null}',
    '{"x":1,"x":1}', '{"x":1,"y":"p","z":1}', '{"x":4,"y":"p"}', '{"x":"1","y":"p"}', '{"x":1,"__proto__":"p"}',
    '{"__proto__":{"x":1,"y":"p"}}', '{"x":1,"\\u0078":1}', '{"x":{"x":1}}', f'"{MARK}"', f'{{"{MARK}":"{MARK}"}}',
    '"__proto__"', '"constructor"', '"' + "a" * 10_000 + '"', "8", "7", "7.0", "3.5", "-1", '"Gro\\u0308\\u00dfe"',
)  # fmt: skip
_KEYS = (
    "0" * 31, "0" * 33, "0" * 32 + " ", "A" * 32, "0x" + "0" * 30, "٠" * 32, "０" * 32, "g" * 32, "", "0" * 31 + "\\n",
    "0" * 31 + "\\u0000", "00000000-0000-0000-0000-000000000000", MARK,
)  # fmt: skip
_NAMES = (
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    "\\u0076",
    "key ",
    "Key",
    MARK,
    "then",
    "__class__",
)
_FIELDS = ("v", "study", "question", "spec", "report", "key")


class Bodies:
    """An endless row of bodies."""

    def __init__(self, study, seed):
        self.study, self.rng = study, random.Random(seed)
        self.reports = {each.name: _given(each) for each in study.questions}
        self.kinds = [getattr(type(self), name) for name in sorted(dir(type(self))) if name.startswith("kind_")]

    def next(self):
        """One body, and of which kind it is."""
        kind = self.rng.choice(self.kinds)
        return kind(self), kind.__name__[5:]

    def fields(self):
        """The members of an envelope that is in order, as JSON text."""
        question = self.rng.choice(self.study.questions)
        report = self.rng.choice(self.reports[question.name])
        held = (1, self.study.name, question.name, question.sha256, report, f"{self.rng.getrandbits(128):032x}")
        return [(name, _json(each)) for name, each in zip(_FIELDS, held, strict=True)]

    def envelope(self):
        return _object(self.fields())

    def with_value(self, name, text):
        return _object([(key, text if key == name else held) for key, held in self.fields()])

    def among(self, text):
        """An array in which this stands somewhere between envelopes that are in order."""
        others = [self.envelope() for _ in range(self.rng.randrange(4))]
        others.insert(self.rng.randrange(len(others) + 1), text)
        return "[" + ",".join(others) + "]"

    def maybe_among(self, text):
        return (self.among(text) if self.rng.random() < 0.3 else text).encode("utf-8", "surrogatepass")

    # --- The kinds.

    def kind_in_order(self):
        return self.maybe_among(self.envelope())

    def kind_other_report(self):
        return self.maybe_among(self.with_value("report", self.rng.choice(_VALUES)))

    def kind_report_of_another_question(self):
        other = self.rng.choice([each for reports in self.reports.values() for each in reports])
        return self.maybe_among(self.with_value("report", _json(other)))

    def kind_off_the_grid(self):
        number = self.rng.choice((self.rng.uniform(-5, 35), self.rng.randrange(-5, 40), self.rng.gauss(0, 1e-8)))
        return self.maybe_among(self.with_value("report", repr(number)))

    def kind_other_field(self):
        return self.maybe_among(self.with_value(self.rng.choice(_FIELDS), self.rng.choice(_VALUES)))

    def kind_other_key(self):
        return self.maybe_among(self.with_value("key", f'"{self.rng.choice(_KEYS)}"'))

    def kind_other_hash(self):
        right = self.rng.choice(self.study.questions).sha256
        text = self.rng.choice((right, right.upper(), right[:-1], right + "0", "0" * 64, MARK))
        return self.maybe_among(self.with_value("spec", _json(text)))

    def kind_other_name(self):
        name = self.rng.choice(("study", "question"))
        given = (
            *(each.name for each in self.study.questions),
            "kinds",
            "Kinds",
            "kinds ",
            MARK,
            "__proto__",
            "",
            "kınds",
        )
        return self.maybe_among(self.with_value(name, _json(self.rng.choice(given))))

    def kind_repeated(self):
        fields = self.fields()
        name, held = self.rng.choice(fields)
        again = self.rng.choice((name, "".join(f"\\u{ord(each):04x}" for each in name)))
        fields.insert(self.rng.randrange(len(fields) + 1), (again, self.rng.choice((held, "1", '"a"'))))
        return self.maybe_among(_object(fields))

    def kind_unknown(self):
        fields = self.fields()
        fields.insert(self.rng.randrange(7), (self.rng.choice(_NAMES), self.rng.choice(_VALUES)))
        return self.maybe_among(_object(fields))

    def kind_missing(self):
        fields = self.fields()
        del fields[self.rng.randrange(6)]
        return self.maybe_among(_object(fields))

    def kind_order_and_spaces(self):
        fields = self.fields()
        self.rng.shuffle(fields)
        space = self.rng.choice((" ", "\n", "\t", "\r\n", "\v", "\u00a0", "\ufeff", "/**/"))
        return self.maybe_among(
            space.join(("", "{", f",{space}".join(f'"{key}"{space}:{held}' for key, held in fields), "}", ""))
        )

    def maybe_escaped(self, letter):
        return f"\\u{ord(letter):04x}" if letter.isascii() and letter.isalnum() and self.rng.random() < 0.2 else letter

    def kind_escaped(self):
        """Every letter of a text may be written as an escape."""
        fields = [
            (key, "".join(map(self.maybe_escaped, held)) if held.startswith('"') and "\\" not in held else held)
            for key, held in self.fields()
        ]
        return self.maybe_among(_object(fields))

    def kind_deep(self):
        depth = self.rng.choice((10, 100, 900, 1100, 5000, 10**5, DEEP if self.rng.random() < 0.05 else 10**4))
        opened, closed = self.rng.choice((("[", "]"), ('{"a":', "}"), ('[{"report":', "}]")))
        text = opened * depth + "1" + (closed * depth if self.rng.random() < 0.5 else "")
        return (text if self.rng.random() < 0.3 else self.with_value("report", text)).encode()

    def kind_encoded(self):
        text = self.envelope()
        return self.rng.choice((
            lambda: text.encode("utf-16"), lambda: text.encode("utf-16-le"), lambda: text.encode("utf-32-be"),
            lambda: b"\xef\xbb\xbf" + text.encode(), lambda: text.encode("latin-1", "ignore") + b"\xff",
            lambda: text.encode().replace(b'"v"', b'"\xc1\xb6"'),
            *(lambda wrong=wrong: text.encode().replace(b"kinds", b"kinds" + wrong)
              for wrong in (b"\xed\xa0\x80", b"\xc3", b"\x00")),
            lambda: text.encode("utf-7"), lambda: text.encode("cp500", "ignore"),
        ))()  # fmt: skip

    def kind_cut(self):
        body = self.maybe_among(self.envelope())
        return body[: self.rng.randrange(len(body))]

    def kind_continued(self):
        more = ("x", "\x00", ",", "}", "]", "//", "\n" + self.envelope(), self.envelope(), " ", "\n", "null", MARK)
        return self.maybe_among(self.envelope()) + self.rng.choice(more).encode()

    def kind_wrapped(self):
        inner = self.envelope()
        around = (
            "[%s,]",
            "[,%s]",
            "[[%s]]",
            "[]",
            "",
            '{"reports":[%s]}',
            "(%s)",
            '"%s"',
            "[%s",
            "%s]",
            "[null,%s]",
            "[%s,[]]",
        )
        return self.rng.choice(around).replace("%s", inner).encode()

    def kind_flipped(self):
        body = bytearray(self.maybe_among(self.envelope()))
        for _ in range(self.rng.randrange(1, 5)):
            at = self.rng.randrange(len(body))
            self.rng.choice((
                lambda at=at: body.__setitem__(at, self.rng.randrange(256)),
                lambda at=at: body.__setitem__(at, body[at] ^ 1 << self.rng.randrange(8)),
                lambda at=at: body.__delitem__(at),
                lambda at=at: body.insert(at, self.rng.randrange(256)),
                lambda at=at: body.__setitem__(slice(at, at), body[at : at + 20]),
            ))()  # fmt: skip
        return bytes(body)

    def kind_noise(self):
        return self.rng.randbytes(self.rng.randrange(200))

    def kind_many_wrong(self):
        return ("[" + ",".join([self.rng.choice(_VALUES)] * self.rng.choice((2, 50, 2000))) + "]").encode(
            "utf-8", "surrogatepass"
        )


def _json(held):
    return json.dumps(held, ensure_ascii=False)


def _object(fields):
    return "{" + ",".join(f'"{key}":{held}' for key, held in fields) + "}"


def _given(question):
    """Reports that the mechanisms of a question give."""
    columns = {part.name: values(part.mechanism, drawn(part.mechanism, 40)) for part in question.parts}
    if not question.is_record:
        return [list(each) if isinstance(each, tuple) else each for each in columns[question.name]]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if question.sample is None:
        return rows
    return [{name: row[name]} for at, row in enumerate(rows) for name in [list(row)[at % len(row)]]]
