"""Means with 95 % intervals, normal or by bootstrap: the one definition of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

__all__ = ["Interval", "IntervalMethod", "bootstrap_interval", "interval", "normal_interval"]

Z95 = 1.959964  # two-sided 95 % quantile of the normal distribution
_RESAMPLES = 2000
_RESAMPLED_AT_ONCE = 1 << 22  # numbers, 32 MB

IntervalMethod = Literal["normal", "bootstrap"]


@dataclass(frozen=True)
class Interval:
    """``mean`` ± ``half_width``, in the unit of the samples; infinitely wide where there was only one.

    ``method`` is how the width was found.
    """

    mean: float
    half_width: float
    method: IntervalMethod = "normal"

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width

    def scaled(self, factor: float, shift: float = 0.0) -> Interval:
        """The interval of ``shift + factor * x``, where x has this one."""
        return Interval(shift + factor * self.mean, abs(factor) * self.half_width, self.method)

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half_width:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; an infinite width becomes None."""
        width = self.half_width if math.isfinite(self.half_width) else None
        return {"mean": self.mean, "half_width": width, "method": self.method}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Interval:
        """The inverse of `to_dict`."""
        half_width = values["half_width"]
        method: IntervalMethod = "bootstrap" if values.get("method") == "bootstrap" else "normal"
        return cls(values["mean"], math.inf if half_width is None else half_width, method)


def normal_interval(samples: Tensor) -> Interval:
    """The mean of independent ``samples`` ``[N]``, N ≥ 1, with 1.96 standard errors to either side.

    Normal approximation: good for the hundreds of samples and more that an arena gives.
    """
    values = samples.to("cpu", torch.float64)
    if len(values) < 2:
        return Interval(float(values.mean()), math.inf)
    return Interval(float(values.mean()), Z95 * float(values.std()) / math.sqrt(len(values)))


def bootstrap_interval(samples: Tensor) -> Interval:
    """The mean of independent ``samples`` ``[N]``, N ≥ 1, and how far 95 % of resampled means are from it.

    The symmetric bootstrap interval (Hall 1988) from 2,000 resamples, always the same ones for the same samples.
    """
    values = samples.to("cpu", torch.float64)
    number, mean = len(values), float(values.mean())
    if number < 2:
        return Interval(mean, math.inf, "bootstrap")
    generator = torch.Generator().manual_seed(number)
    at_once = max(1, _RESAMPLED_AT_ONCE // number)
    means = []
    for begin in range(0, _RESAMPLES, at_once):
        rows = min(at_once, _RESAMPLES - begin)
        means.append(values[torch.randint(number, (rows, number), generator=generator)].mean(1))
    return Interval(mean, float((torch.cat(means) - mean).abs().quantile(0.95)), "bootstrap")


def interval(samples: Tensor, method: IntervalMethod = "normal") -> Interval:
    """The mean of ``samples`` with its 95 % interval by ``method``."""
    return bootstrap_interval(samples) if method == "bootstrap" else normal_interval(samples)
