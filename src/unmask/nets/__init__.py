"""Nets: denoisers that learn. One file each; they know rows and states, and no task."""
