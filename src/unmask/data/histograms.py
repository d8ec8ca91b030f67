"""What is in a data set: the recipe's histograms, added up over shards, as numbers or as a figure."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from unmask import figures
from unmask.data import Histograms, Recipe, shards
from unmask.data.dataset import manifest
from unmask.errors import UnmaskError, nearest
from unmask.tasks import recipe_of


def recipe_from(about: dict[str, Any]) -> Recipe:
    """The recipe that a manifest names."""
    try:
        return recipe_of(about["task"])(**about["recipe"])
    except TypeError as error:
        raise UnmaskError(f"the data set's recipe is none that this version knows: {about['recipe']}") from error


def histograms(path: Path, split: str | None = None) -> Histograms:
    """Counts by title and label, of one split or of all. Every shard's checksum is looked at first."""
    about = manifest(path)
    if split is not None and split not in about["splits"]:
        raise UnmaskError(f"{path} has no split {split!r}; {nearest(split, about['splits'])}")
    recipe = recipe_from(about)
    found: dict[str, Counter[str]] = {}
    for name, entry in about["splits"].items():
        if split not in (None, name):
            continue
        for shard in entry["shards"]:
            shards.verify(path / shard["file"], shard["sha256"], shard["bytes"])
            columns = {key: column.numpy() for key, column in shards.read(path / shard["file"]).items()}
            for title, counts in recipe.histograms(columns).items():
                found.setdefault(title, Counter()).update(counts)
    return {title: _in_order(counts) for title, counts in found.items()}


def draw(found: Histograms, title: str, path: Path) -> None:
    """The histograms beside each other, as a PNG, SVG or PDF."""
    columns = len(found) if len(found) <= 3 else (len(found) + 1) // 2
    rows = -(-len(found) // columns)
    figure = figures.blank(4.8 * columns, 3.8 * rows)
    figure.suptitle(title)
    places_for = figure.subplots(rows, columns, squeeze=False).flat
    for axes in places_for[len(found) :]:
        axes.set_visible(False)
    for axes, (name, counts) in zip(places_for, found.items(), strict=False):
        places = range(len(counts))
        axes.bar(places, list(counts.values()), color="#21918c", width=0.85)
        words = any(len(label) > 3 for label in counts)
        stride = 1 if words else max(1, len(counts) // 12)  # numbers need not all be written
        labels = [label if number % stride == 0 else "" for number, label in enumerate(counts)]
        axes.set_xticks(list(places), labels, rotation=40 if words else 0, ha="right" if words else "center")
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel(name)
        axes.set_ylabel("count")
        axes.spines[["top", "right"]].set_visible(False)
    figures.save(figure, path)


def _in_order(counts: Counter[str]) -> dict[str, int]:
    """Numbers by size; words as the recipe had them."""
    labels = sorted(counts, key=int) if all(label.lstrip("-").isdigit() for label in counts) else list(counts)
    return {label: counts[label] for label in labels}
