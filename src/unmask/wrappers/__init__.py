"""Wrappers: a denoiser in, a denoiser out. One file each; what a model believes is changed here, never in the loop."""
