"""The curve r(lambda) as a picture, with the extra ``charts``."""

import math
from importlib import import_module
from pathlib import Path
from typing import Any

from dsteval.errors import OptionError, require
from dsteval.rating.fitting import LambdaFit


def check(path: str) -> None:
    """Raise OptionError for a picture that cannot be written: another suffix, or the extra is not installed."""
    require(Path(path).suffix in (".svg", ".png"), f"--chart {path}", "a file name ending in .svg or .png", path)
    try:
        for name in ("altair", "vl_convert"):
            import_module(name)
    except ImportError:
        expected, remedy = "altair and vl-convert", "Install them: pip install 'dsteval[charts]'"
        found = "one or both missing"
        raise OptionError(where=f"--chart {path}", expected=expected, found=found, remedy=remedy) from None


def save(fit: LambdaFit, path: str) -> None:
    """Write the curve as SVG or PNG. Raises OptionError as ``check``."""
    check(path)
    import_module("altair").Chart.from_dict(description(fit)).save(path, format=Path(path).suffix[1:])


def description(fit: LambdaFit) -> dict[str, Any]:
    """The picture in Vega-Lite; lambda stands at 1 - exp(-lambda), so that infinity has a place."""
    rows = [
        {"at": 1 - math.exp(-point["lambda"]), "r": point["r"], "low": point["low"], "high": point["high"]}
        for point in fit.curve
        if point["r"] is not None
    ]
    x = {"field": "at", "type": "quantitative", "title": "1 - exp(-lambda): 0 is JGA, 1 is TurnMatch"}
    y = {"type": "quantitative", "title": "Pearson's r with ratings", "scale": {"zero": False}}
    area = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    line = {"x": x, "y": {**y, "field": "r"}}
    best = {"x": {"datum": 1 - math.exp(-fit.value), "type": "quantitative"}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 480,
        "height": 300,
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "area", "opacity": 0.2}, "encoding": area},
            {"mark": {"type": "line", "point": True}, "encoding": line},
            {"mark": {"type": "rule", "strokeDash": [4, 4]}, "encoding": best},
        ],
    }
