"""Command lines: parse the configuration, build the parts, call one function."""
