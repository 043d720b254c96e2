"""Execution providers, by ONNX Runtime's names. Only the CPU provider exists here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.devices import PROVIDER
from touchstone.errors import Error

Options = dict[str, Any]  # "Provider.option" -> value


def require_provider(providers: Sequence[Any] | None, provider_options: Sequence[Mapping[str, Any]] | None) -> Options:
    """Raises Error if providers are named without the CPU provider. Returns all options given to providers: none has an
    effect, since the CPU provider has no options. An unknown provider is skipped with a warning.
    """
    if providers is None:
        if any(provider_options or ()):
            raise Error("usage", "provider_options are given without providers", help=f"add providers=['{PROVIDER}']")
        return {}
    wanted = [_with_options(each) for each in providers]
    if provider_options is not None:
        wanted = _paired(wanted, provider_options)
    names = [name for name, _ in wanted]
    if names and PROVIDER not in names:
        raise Error("unsupported", f"of the providers {names} there is none here", help=f"add '{PROVIDER}'")
    absent = [name for name in names if name != PROVIDER]
    if absent:
        warnings.warn(f"{', '.join(absent)}: not here; all nodes run on {PROVIDER}", stacklevel=3)
    return {f"{name}.{key}": value for name, options in wanted for key, value in options.items()}


def _with_options(provider: Any) -> tuple[str, Mapping[str, Any]]:
    """Splits a name, or a pair of a name and options."""
    if isinstance(provider, str):
        return provider, {}
    if isinstance(provider, tuple) and len(provider) == 2:
        name, options = provider
        if isinstance(name, str) and isinstance(options, Mapping):
            return name, options
    raise Error(
        "usage",
        f"a provider is a name or a pair (name, options), not {provider!r}",
        help=f"providers=['{PROVIDER}']",
    )


def _paired(
    wanted: list[tuple[str, Mapping[str, Any]]], provider_options: Sequence[Mapping[str, Any]]
) -> list[tuple[str, Mapping[str, Any]]]:
    if any(options for _, options in wanted):
        raise Error(
            "usage", "options are given in providers and in provider_options", help="leave provider_options out"
        )
    if len(wanted) != len(provider_options):
        raise Error(
            "usage",
            f"there are {len(wanted)} providers and {len(provider_options)} provider_options",
            help="give each provider its options, {} where it has none",
        )
    return [(name, options) for (name, _), options in zip(wanted, provider_options, strict=True)]
