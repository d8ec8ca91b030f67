"""The command line: thin and lazy. Nothing here imports torch before a command needs it.

Exit codes: 0 done, 2 bad input (one line says what was wrong), 130 interrupted. Data go to stdout; progress,
summaries and errors to stderr.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import unmask
from unmask.errors import UnmaskError, one_line

if TYPE_CHECKING:
    from cyclopts import App


def application() -> App:
    """All commands."""
    from cyclopts import App

    from unmask.cli.data import data
    from unmask.cli.decode import decode
    from unmask.cli.demo import demo
    from unmask.cli.evaluate import evaluate
    from unmask.cli.solve import solve
    from unmask.cli.strategies import strategies
    from unmask.cli.trace import trace
    from unmask.cli.train import train

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
    app.command(train)
    app.command(evaluate)
    app.command(strategies)
    app.command(trace)
    app.register_install_completion_command()
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit as the module says."""
    with _listening() as pressed:
        try:
            result = _run(arguments)
        except BaseException as error:
            _leave(error, bool(pressed))
            raise
        sys.exit(result if isinstance(result, int) else 0)


def _leave(error: BaseException, interrupted: bool) -> None:
    """Exit with one line, unless the error is a mistake of ours: that comes back."""
    # Ctrl-C while a library is loaded may come out as any error.
    if interrupted or _follows(error, KeyboardInterrupt):
        _stop("interrupted", 130)
    if isinstance(error, UnmaskError):
        _stop(str(error), 2)
    # The reader, `head` say, has had enough; rich, when it finds that out, exits with 1 itself.
    if isinstance(error, BrokenPipeError | SystemExit) and _follows(error, BrokenPipeError):
        _let_go()
        sys.exit(0)
    if isinstance(error, OSError):
        _let_go()
        _stop(f"{error.filename or 'standard output'}: {error.strerror or error}", 2)


def _run(arguments: Sequence[str] | None) -> object:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    # Even this takes long enough to be interrupted, so it is not at the top.
    from cyclopts import CycloptsError

    try:
        result = application()(
            sys.argv[1:] if arguments is None else arguments,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        raise UnmaskError(f"{one_line(error)} (see unmask --help)") from error
    if sys.stdout is not None:
        sys.stdout.flush()  # what cannot be written is to be known here, not after the end
    return result


@contextlib.contextmanager
def _listening() -> Generator[list[int]]:
    """Remember whether Ctrl-C was pressed, whatever becomes of the KeyboardInterrupt on its way up.

    While a library is loaded there is nothing to tidy up, and C++ code that meets a KeyboardInterrupt may swallow it,
    turn it into another error, or abort; so that one leaves at once.
    """
    pressed: list[int] = []
    process = os.getpid()

    def press(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        if _importing(frame) and os.getpid() == process:
            _say("interrupted")
            os._exit(130)
        raise KeyboardInterrupt

    # Only a main thread may, and what ignores Ctrl-C (a job in the background) is to go on doing so.
    ours = threading.current_thread() is threading.main_thread()
    ours = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _follows(error: BaseException, kind: type[BaseException]) -> bool:
    """Whether the error is of that kind, or came of one that is."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in seen:
            seen.append(one)
            waiting += [one.__cause__, one.__context__]
    return any(isinstance(one, kind) for one in seen)


def _let_go() -> None:
    """What is still to be written goes nowhere, or Python would complain of it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stdout may be closed, or no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(line: str, code: int) -> NoReturn:
    _say(line)
    sys.exit(code)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # nobody may be reading
        sys.stderr.write(f"unmask: {one_line(line)}\n")
        sys.stderr.flush()
