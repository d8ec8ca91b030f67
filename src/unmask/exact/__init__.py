"""Denoisers that know: exact beliefs, so that decoding is seen and tested before any training."""
