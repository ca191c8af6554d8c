"""Tests of `nardy.eval`."""
