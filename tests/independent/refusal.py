"""Exceptions that end an evaluation: the call is invalid, or this interpreter does not support it."""

from __future__ import annotations


class Refusal(Exception):
    """Raised if the standard or a rule of the entry forbids the call. `rule` is the rule's id, if one applies."""

    touchstone_fault = "invalid_input"

    def __init__(self, message: str, rule: str = ""):
        super().__init__(f"[{rule}] {message}" if rule else message)
        self.rule = rule
        if rule:
            self.touchstone_fault = "invalid_model"


class LeftOut(Exception):
    """Raised for a valid call that is not supported; the driver counts by the first words of the reason."""

    touchstone_fault = "unsupported"
