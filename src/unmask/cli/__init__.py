"""The command line: thin and lazy. Nothing here imports torch before a command needs it.

Exit codes: 0 done, 2 bad input (one line says what was wrong), 130 interrupted. Data go to stdout; progress,
summaries and errors to stderr.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

import unmask
from unmask.errors import UnmaskError


def application() -> App:
    """All commands."""
    from unmask.cli.data import data
    from unmask.cli.decode import decode
    from unmask.cli.demo import demo
    from unmask.cli.solve import solve
    from unmask.cli.strategies import strategies
    from unmask.cli.trace import trace

    app = App(
        name="unmask",
        help="Token order in masked diffusion models: decode in any order, and see the order.",
        version=lambda: unmask.__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    app.command(demo)
    app.command(decode)
    app.command(solve)
    app.command(data)
    app.command(strategies)
    app.command(trace)
    app.register_install_completion_command()
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit as the module says."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        result = application()(
            sys.argv[1:] if arguments is None else arguments,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except UnmaskError as error:
        _stop(str(error), 2)
    except CycloptsError as error:
        _stop(_one_line(error), 2)
    except KeyboardInterrupt:
        _stop("interrupted", 130)
    except BrokenPipeError:  # the reader, `head` say, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(result if isinstance(result, int) else 0)


def _one_line(error: CycloptsError) -> str:
    text = " ".join(str(error).split())
    return f"{text} (see unmask --help)"


def _stop(line: str, code: int) -> None:
    sys.stderr.write(f"unmask: {line}\n")
    sys.exit(code)
