"""Tests, laid out as the folders they test. Not installed; helpers shared between folders are modules here."""
