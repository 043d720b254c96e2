"""The package's one exception type: message, place, broken rule and help."""

from __future__ import annotations


def printable(text: str) -> str:
    """Escapes control characters of hostile models for a terminal: \\x1b and the like."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class Error(Exception):
    """Raised for every failure in Touchstone.

    kind       usage (a feed of the wrong name, type or shape too), invalid_model, invalid_input, unsupported,
               out_of_memory, limit, cancelled, file or internal.
    message    one sentence with the values in it.
    rule       the broken rule: "Clip-13/C1", or one of the format such as "model/cycle"; "" if there is none.
    rule_text  the rule's condition: "rank(min) == 0".
    spec_line  the rule's source line: "spec/ops/ai.onnx/Clip.yaml:12".
    place      "node 'act3' (Clip), output 'act3_out', main graph".
    help       a hint on how to mend it.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        rule: str = "",
        rule_text: str = "",
        spec_line: str = "",
        place: str = "",
        help: str = "",
    ):
        super().__init__(kind, message, rule, rule_text, spec_line, place, help)
        self.kind = kind
        self.message = message
        self.rule = rule
        self.rule_text = rule_text
        self.spec_line = spec_line
        self.place = place
        self.help = help

    @property
    def touchstone_fault(self) -> str:
        """Kind under which a conformance run counts the error."""
        return self.kind

    def __str__(self) -> str:
        lines = [f"[{self.rule or self.kind}] {self.message}"]
        if self.place:
            lines.append(f"  at    {self.place}")
        if self.rule_text:
            lines.append(f"  rule  {self.rule_text}" + (f"  {self.spec_line}" if self.spec_line else ""))
        if self.help:
            lines.append(f"  help  {self.help}")
        return "\n".join(map(printable, lines))


Error.__module__ = "touchstone"
