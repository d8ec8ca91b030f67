"""Experiments: what is run to make a model, a table or a figure. They import the core; the core knows none of them."""
