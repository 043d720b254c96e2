"""Two ways out of an evaluation: the call is refused, or this interpreter leaves it out by name."""

from __future__ import annotations


class Refusal(Exception):
    """The standard (or a rule of the entry) says no. `rule` is the id of the rule that does, where one is at hand."""

    touchstone_fault = "invalid_input"

    def __init__(self, message: str, rule: str = ""):
        super().__init__(f"[{rule}] {message}" if rule else message)
        self.rule = rule
        if rule:
            self.touchstone_fault = "invalid_model"


class LeftOut(Exception):
    """Valid, but not computed here; the reason begins with a word that the driver counts by."""

    touchstone_fault = "unsupported"
