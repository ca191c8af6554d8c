"""Tests of `nardy.env`."""
