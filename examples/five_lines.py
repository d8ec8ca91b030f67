"""Five lines: a task, a model that knows, a strategy, a decode, an answer."""

import unmask

sudoku = unmask.task("sudoku4")
model = unmask.Enumeration(sudoku.support())
puzzle = sudoku.parse("1... ..2. .3.. ...4")
final = unmask.decode(model, puzzle.start(seed=0), "margin, per_step(1), greedy").finish()
print(sudoku.render(final.tokens[0]))
