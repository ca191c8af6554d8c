"""The frame of our HTML pages: a style of their own, and a policy that forbids everything from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from .style import STYLE

__all__ = ["html_page"]


def html_page(title: str, body: str) -> str:
    """A whole page; ``title`` is text, ``body`` is HTML whose texts are escaped already."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""
