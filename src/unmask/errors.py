"""What can go wrong, as one sentence each: what was wrong, what was expected, what to do.

The command line prints these as one line and exits with 2; in Python they are ordinary exceptions.
"""

import difflib
from collections.abc import Iterable


class UnmaskError(ValueError):
    """Something that the caller can put right; its text is one line."""


class DenoiserError(UnmaskError):
    """A denoiser returned what it must not: NaN, a wrong shape, another device."""


class StrategyError(UnmaskError):
    """A strategy that cannot be: a misspelt part, a wrong option, parts that do not fit."""


class ImpossibleEvidence(UnmaskError):
    """What is shown has probability 0 under an exact model."""


def one_line(text: object) -> str:
    """The text on one line: whatever others put into an error, a file's name or another error, may hold several."""
    return " ".join(line.strip() for line in str(text).splitlines() if line.strip())


def nearest(wrong: str, right: Iterable[str]) -> str:
    """A clause that names the right word nearest to `wrong`, or lists the few that there are."""
    right = sorted(right)
    close = difflib.get_close_matches(wrong, right, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + ", ".join(right)
