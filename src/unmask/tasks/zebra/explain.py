"""Both Zebra solvers as a person would want to see them: which rule and which clues, what is then known, in English."""

from __future__ import annotations

from unmask.errors import UnmaskError
from unmask.tasks.solving import Solver, Solving
from unmask.tasks.zebra import english, reading
from unmask.tasks.zebra.clues import Array, Puzzles
from unmask.tasks.zebra.deduce import RULES, SUPPOSE, Step, deduce, steps
from unmask.tasks.zebra.search import search
from unmask.tasks.zebra.task import table


def by_search(text: str, name: str | None = None) -> Solving:
    """Find the solution by search, and say that it is the only one."""
    read, solution = _unique(text)
    cells = read.puzzle.houses * read.puzzle.attributes - int((read.known >= 0).sum())
    return _solving(
        read, solution, solved=True, grade="one solution",
        steps=(("search", f"{cells} values placed; there is no other solution"),),
    )  # fmt: skip


def by_strategies(text: str, name: str | None = None) -> Solving:
    """Solve as a person does: clue by clue, with suppositions where nothing else helps."""
    read, _ = _unique(text)
    found = deduce(Puzzles.of([read.puzzle]), known=read.known[None])
    taken = tuple((step.rule, _tell(step, read)) for step in steps(read.puzzle, known=read.known))
    solved, hardest = bool(found.solved[0]), int(found.hardest[0])
    grade = "not solved by deduction (--with search finds the answer)"
    if solved and hardest < 0:
        grade = "solved; nothing to do"
    elif solved:
        how = "with suppositions" if hardest == SUPPOSE else "by propagation alone"
        grade = f"solved {how}; hardest rule: {RULES[hardest]}, in {int(found.uses[0, hardest])} of {len(taken)} steps"
    return _solving(read, found.grids[0], solved=solved, grade=grade, steps=taken)


SOLVERS: dict[str, Solver] = {"search": by_search, "strategies": by_strategies}


def _solving(
    read: english.Text, grid: Array, *, solved: bool, grade: str, steps: tuple[tuple[str, str], ...]
) -> Solving:
    known = english.houses(read.known, read.puzzle, read.words)
    return Solving(
        before="\n".join([*english.write(read.puzzle, read.words), *known]),
        after="\n".join(table(grid, read.puzzle, read.words)),
        line=" ".join(english.houses(grid, read.puzzle, read.words)),
        solved=solved,
        steps=steps,
        grade=grade,
    )


def _unique(text: str) -> tuple[english.Text, Array]:
    """The puzzle and its only solution; refuses one that has none, or more than one."""
    read = reading.read(text)
    found = search(Puzzles.of([read.puzzle]), limit=2, known=read.known[None])
    count = int(found.count[0])
    if count == 0:
        raise UnmaskError("the puzzle has no solution: the clues contradict each other")
    if count < 0:
        raise UnmaskError("the search gave up: give more clues")
    if count > 1:
        one, other = (" ".join(english.houses(grid, read.puzzle, read.words)) for grid in found.grids[0])
        raise UnmaskError(f"the puzzle has more than one solution, among them: {one} And: {other} Give more clues")
    return read, found.grids[0, 0]


def _tell(step: Step, read: english.Text) -> str:
    """What a step did: the clues, what is known now, what is ruled out."""
    told = [f"clue{'s' * (len(step.clues) > 1)} {', '.join(map(str, step.clues))}"] if step.clues else []
    written = sorted((house, attribute, value) for attribute, house, value in step.written)
    for house in sorted({house for house, _, _ in written}):
        names = [read.words[a].values[v] for h, a, v in written if h == house]
        told.append(f"house {house + 1} = {', '.join(names)}")
    done = {(attribute, value) for attribute, _, value in step.written}
    out: dict[tuple[int, int], list[int]] = {}
    for attribute, house, value in step.removed:
        if (attribute, value) not in done:
            out.setdefault((attribute, value), []).append(house + 1)
    told += [f"{read.words[a].values[v]} ≠ {', '.join(map(str, sorted(h)))}" for (a, v), h in out.items()]
    return "; ".join(told)
