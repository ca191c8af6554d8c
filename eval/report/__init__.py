"""A report of one model: figures gathered, drawn and put on one page."""

from .build import Report, build_report, write_report

__all__ = ["Report", "build_report", "write_report"]
