"""Wrappers: a denoiser in, a denoiser out. One file each; what a model believes is changed here, never in the loop.

A wrapper that asks its model more than once says so in `calls_for(rows)`, so that a decode counts calls of the model.
"""
