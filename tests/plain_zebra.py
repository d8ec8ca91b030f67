"""Zebra puzzles as plainly as they can be written: sets, loops, and a solver that somebody else wrote.

It shares the form of puzzles with the package (`clues`), and nothing else; it is slow, and is what the package is
checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from unmask.tasks.zebra.clues import HOUSE, Clue, Puzzle

TRUE: tuple[Callable[..., bool], ...] = (
    lambda n, x, y: x == y,
    lambda n, x, y: x != y,
    lambda n, x: x in (0, n - 1),
    lambda n, x, y: y == x + 1,
    lambda n, x, y: y == x + 1 or x == y + 1,
    lambda n, x, y: x < y,
    lambda n, x, y, z: y < x < z or z < x < y,
)
"""When a clue of each kind is true: of the number of houses, and the houses of its values."""

Possible = dict[tuple[int, int], set[int]]
"""The houses where each value, a number of a house included, may still be."""


def holds(clue: Clue, houses: int, house_of: dict[tuple[int, int], int]) -> bool:
    return TRUE[clue.kind](houses, *(house_of[operand] for operand in clue.operands))


def houses_of(grid: Sequence[Sequence[int]], puzzle: Puzzle) -> dict[tuple[int, int], int]:
    """The house of every value, from a solution as the package lays it out."""
    found = {(HOUSE, house): house for house in range(puzzle.houses)}
    for attribute in range(puzzle.attributes):
        for house in range(puzzle.houses):
            found[attribute, int(grid[attribute][house])] = house
    return found


# Somebody else's solver


def count(puzzle: Puzzle, limit: int = 2) -> int:
    """Solutions up to a limit, by OR-tools' CP-SAT."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    n = puzzle.houses
    at: dict[tuple[int, int], object] = {(HOUSE, h): model.new_constant(h) for h in range(n)}
    for attribute in range(puzzle.attributes):
        values = [model.new_int_var(0, n - 1, f"{attribute} {value}") for value in range(n)]
        model.add_all_different(values)
        at |= {(attribute, value): variable for value, variable in enumerate(values)}
    for clue in puzzle.clues:
        of = [at[operand] for operand in clue.operands]
        if clue.kind == 0:
            model.add(of[0] == of[1])
        elif clue.kind == 1:
            model.add(of[0] != of[1])
        elif clue.kind == 2:
            model.add_linear_expression_in_domain(of[0], cp_model.Domain.from_values([0, n - 1]))
        elif clue.kind == 3:
            model.add(of[1] - of[0] == 1)
        elif clue.kind == 4:
            model.add_linear_expression_in_domain(of[0] - of[1], cp_model.Domain.from_values([-1, 1]))
        elif clue.kind == 5:
            model.add(of[0] < of[1])
        else:
            rising = model.new_bool_var("")
            for low, high, when in ((of[1], of[2], rising), (of[2], of[1], ~rising)):
                model.add(low < of[0]).only_enforce_if(when)
                model.add(of[0] < high).only_enforce_if(when)

    class Counter(cp_model.CpSolverSolutionCallback):
        found: set[tuple[int, ...]]

        def __init__(self) -> None:
            super().__init__()
            self.found = set()

        def on_solution_callback(self) -> None:
            self.found.add(tuple(self.value(variable) for variable in at.values()))
            if len(self.found) >= limit:
                self.stop_search()

    counter = Counter()
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(model, counter)
    return len(counter.found)


# Deduction


def deduce(puzzle: Puzzle, rules: Sequence[str]) -> list[tuple[str, Possible]]:
    """The rule of every step, and what is possible after it: the first rule that changes anything, all of it."""
    n = puzzle.houses
    possible: Possible = {(a, v): set(range(n)) for a in range(puzzle.attributes) for v in range(n)}
    possible |= {(HOUSE, h): {h} for h in range(n)}
    found: list[tuple[str, Possible]] = []
    while True:
        for rule in rules:
            after = apply(rule, puzzle, possible)
            if after != possible:
                break
        else:
            return found
        possible = after
        found.append((rule, possible))


def apply(rule: str, puzzle: Puzzle, before: Possible) -> Possible:
    """What one rule leaves, every instance of it seen from the same state."""
    n = puzzle.houses
    after = {value: set(houses) for value, houses in before.items()}
    values = [(a, v) for a in range(puzzle.attributes) for v in range(n)]
    if rule == "the house is taken":
        for a, v in values:
            for other in range(n):
                if other != v and len(before[a, v]) == 1:
                    after[a, other] -= before[a, v]
    elif rule == "nothing else fits":
        for a, house in product(range(puzzle.attributes), range(n)):
            fits = [v for v in range(n) if house in before[a, v]]
            if len(fits) == 1:
                after[a, fits[0]] &= {house}
    elif rule == "supposition":
        for value in values:
            if len(before[value]) > 1:
                after[value] = {house for house in before[value] if not refuted(puzzle, before | {value: {house}})}
    else:
        for clue in puzzle.clues:
            if f"clue: {KINDS[clue.kind]}" != rule:
                continue
            true = [
                houses
                for houses in product(*(before[operand] for operand in clue.operands))
                if TRUE[clue.kind](n, *houses)
            ]
            for number, operand in enumerate(clue.operands):
                after[operand] &= {houses[number] for houses in true}
    return after


KINDS = ("same house", "not the same house", "at an end", "directly left of", "next to", "left of", "between")
PROPAGATION = ("the house is taken", "nothing else fits", *(f"clue: {kind}" for kind in KINDS))


def refuted(puzzle: Puzzle, possible: Possible) -> bool:
    """Whether propagation ends in a contradiction: a value without a house, or a house without a value."""
    n = puzzle.houses
    while True:
        for a in range(puzzle.attributes):
            covered = set().union(*(possible[a, v] for v in range(n)))
            if covered != set(range(n)) or not all(possible[a, v] for v in range(n)):
                return True
        if not all(possible[HOUSE, h] for h in range(n)):
            return True
        before = possible
        for rule in PROPAGATION:
            possible = apply(rule, puzzle, possible)
        if possible == before:
            return False
