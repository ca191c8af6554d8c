"""Means with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Interval", "normal_interval"]

Z95 = 1.959964  # two-sided 95 % quantile of the normal distribution


@dataclass(frozen=True)
class Interval:
    """``mean`` ± ``half_width``, in the unit of the samples; infinitely wide where there was only one."""

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half_width:.3f}"

    def to_dict(self) -> dict[str, float | None]:
        """As JSON values; an infinite width becomes None."""
        return {"mean": self.mean, "half_width": self.half_width if math.isfinite(self.half_width) else None}

    @classmethod
    def from_dict(cls, values: Mapping[str, float | None]) -> Interval:
        """The inverse of `to_dict`."""
        mean, half_width = values["mean"], values["half_width"]
        assert mean is not None
        return cls(mean, math.inf if half_width is None else half_width)


def normal_interval(samples: Tensor) -> Interval:
    """The mean of independent ``samples`` ``[N]``, N ≥ 1, with 1.96 standard errors to either side.

    Normal approximation: good for the hundreds of samples and more that an arena gives.
    """
    values = samples.to("cpu", torch.float64)
    if len(values) < 2:
        return Interval(float(values.mean()), math.inf)
    return Interval(float(values.mean()), Z95 * float(values.std()) / math.sqrt(len(values)))
