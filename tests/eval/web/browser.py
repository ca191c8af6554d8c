"""A real browser on the real server: both started here, neither reaching beyond this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

# Chromium asks the network for updates, models and lists on its own; in a closed network each waits for a time-out.
FLAGS = (
    "--no-sandbox",  # tests run as root in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--disable-sync",
    "--metrics-recording-only",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """The installed browser, driven by Playwright; skips where either is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)}")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page opened as a new visitor's, with all that went wrong on it."""

    def __init__(
        self,
        browser: Any,
        address: str,
        *,
        width: int = 1280,
        height: int = 800,
        language: str = "en",
        motion: bool = False,
    ) -> None:
        """Without ``motion`` what was done is seen at once."""
        self.address = address
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            locale=language,
            reduced_motion="no-preference" if motion else "reduce",
            accept_downloads=True,
            has_touch=width < 640,
        )
        self.context.set_default_timeout(15_000)
        self.faults: list[str] = []
        self.page: Any = self.open()

    def open(self) -> Any:
        """One more tab."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._hear)
        page.on("request", self._see)
        page.goto(self.address)
        return page

    def close(self) -> None:
        """Nothing may have gone wrong."""
        self.context.close()
        assert self.faults == []

    def _hear(self, message: Any) -> None:
        # The browser notes every answer that is not 2xx; which answers may be such, each test says for itself.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"{message.type}: {message.text}")

    def _see(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(self.address).netloc:
            self.faults.append(f"asked {request.url}")
