"""What can be set for ``scripts/analyze.py``; the values come from ``configs/analyze.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AnalyzeOptions"]


@dataclass(frozen=True)
class AnalyzeOptions:
    """How a position or a match is analysed; None of ``model`` and ``variant`` is what fits the other and the file."""

    model: str | None = None
    variant: str | None = None
    plays: int = 5
    blunder: float = 0.08
    jacoby: bool = False
    beavers: bool = False
    json: str | None = None
    html: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.plays < 1:
            raise ValueError(f"plays: found {self.plays}, wanted 1 or more")
        if not self.blunder > 0:
            raise ValueError(f"blunder: found {self.blunder}, wanted more than 0")
