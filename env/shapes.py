"""Plain shapes, and what turns a list of them into pixels or SVG. Knows nothing of backgammon.

Measures are in pixels from the upper left corner, colours are ``#rrggbb``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Circle", "Picture", "Polygon", "Rectangle", "Shape", "Text", "to_pixels", "to_svg"]


@dataclass(frozen=True)
class Rectangle:
    """A filled rectangle from its upper left corner, its corners rounded by ``radius``."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0
    outline: str | None = None
    line_width: float = 0


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    fill: str


@dataclass(frozen=True)
class Circle:
    """A filled circle, its outline drawn inside ``radius``."""

    x: float
    y: float
    radius: float
    fill: str
    outline: str | None = None
    line_width: float = 0


@dataclass(frozen=True)
class Text:
    """One line of text, centred in height on ``y``; ``anchor`` says which end ``x`` is: start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: str = "middle"


Shape = Rectangle | Polygon | Circle | Text


@dataclass(frozen=True)
class Picture:
    """Shapes in the order in which they are drawn, on ``width`` x ``height`` pixels."""

    width: int
    height: int
    shapes: tuple[Shape, ...]


_OVERSAMPLING = 3


@lru_cache(maxsize=32)
def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def to_pixels(picture: Picture) -> npt.NDArray[np.uint8]:
    """Draw a picture, ``[height, width, 3]`` RGB, with smooth edges."""
    from PIL import Image, ImageDraw

    k = _OVERSAMPLING
    image = Image.new("RGB", (picture.width * k, picture.height * k), "white")
    draw = ImageDraw.Draw(image)
    for shape in picture.shapes:
        if isinstance(shape, Rectangle):
            box = (shape.x * k, shape.y * k, (shape.x + shape.width) * k - 1, (shape.y + shape.height) * k - 1)
            draw.rounded_rectangle(box, shape.radius * k, shape.fill, shape.outline, round(shape.line_width * k))
        elif isinstance(shape, Polygon):
            draw.polygon([(x * k, y * k) for x, y in shape.points], shape.fill)
        elif isinstance(shape, Circle):
            draw.circle(
                (shape.x * k, shape.y * k), shape.radius * k, shape.fill, shape.outline, round(shape.line_width * k)
            )
        else:
            anchor = {"start": "lm", "middle": "mm", "end": "rm"}[shape.anchor]
            draw.text((shape.x * k, shape.y * k), shape.text, shape.fill, _font(shape.size * k), anchor)
    return np.array(image.reduce(k), dtype=np.uint8)


def to_svg(picture: Picture, title: str = "", description: str = "") -> str:
    """The picture as the text of an SVG file; ``title`` and ``description`` say what is seen to those who cannot."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width} {picture.height}" '
        f'width="{picture.width}" height="{picture.height}" font-family="Helvetica, Arial, sans-serif"'
        + (' role="img">' if title else ">")
    ]
    lines += [f"<{tag}>{escape(text)}</{tag}>" for tag, text in (("title", title), ("desc", description)) if text]
    for shape in picture.shapes:
        fill = f'fill="{shape.fill}"'
        if isinstance(shape, Rectangle):
            inset = shape.line_width / 2
            lines.append(
                f'<rect x="{shape.x + inset:g}" y="{shape.y + inset:g}" width="{shape.width - 2 * inset:g}" '
                f'height="{shape.height - 2 * inset:g}" rx="{shape.radius:g}" {fill}{_stroke(shape)}/>'
            )
        elif isinstance(shape, Polygon):
            points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
            lines.append(f'<polygon points="{points}" {fill}/>')
        elif isinstance(shape, Circle):
            radius = shape.radius - shape.line_width / 2
            lines.append(f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{radius:g}" {fill}{_stroke(shape)}/>')
        else:
            lines.append(
                f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" text-anchor="{shape.anchor}" '
                f'dominant-baseline="central" {fill}>{escape(shape.text)}</text>'
            )
    return "\n".join([*lines, "</svg>", ""])


def _stroke(shape: Rectangle | Circle) -> str:
    return f' stroke="{shape.outline}" stroke-width="{shape.line_width:g}"' if shape.outline else ""
