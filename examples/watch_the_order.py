"""Step through a decode, look into the belief, record a trace, and fork it: what if another value had been drawn?"""

from dataclasses import replace

import unmask

sudoku = unmask.task("sudoku4")
model = unmask.Enumeration(sudoku.support(), impossible="closest")
start = sudoku.parse("1... .... .... ...2").start(seed=3)

strategy = "entropy, per_step(1), sample"
for number, step in enumerate(unmask.decode(model, start, strategy)):
    place = int(step.shown[0].nonzero())
    print(f"cell {place:2} of {len(step.belief.flat):2} hidden: p = {step.after.shown_probability[0, place]:.2f}")
    if number == 0:  # the belief can be read until the next step is asked for
        asked = int((step.belief.flat == place).nonzero())
        fork, first, ranked = step.state, place, step.belief.log_probabilities[asked].argsort(descending=True)
    drawn = step.state.tokens[0]

other = next(value for value in ranked.tolist() if value != fork.tokens[0, first])
tokens = fork.tokens.clone()
tokens[0, first] = other
branch = unmask.decode(model, replace(fork, tokens=tokens), strategy).finish()
print(f"as drawn: {sudoku.line(drawn)}   with another value in cell {first}: {sudoku.line(branch.tokens[0])}")

trace = unmask.record(unmask.decode(model, start, strategy), candidates=3)
print("order:", trace.step[0].tolist())
