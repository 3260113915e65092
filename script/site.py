"""Builds the documentation as a site, warnings as errors: README and docs/, each command's help, the Python names.

python script/site.py FOLDER
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from sphinx.cmd.build import main as sphinx

import dsteval
from dsteval import metrics
from dsteval.cli import cli

ROOT = Path(__file__).parent.parent
# Links to the code are for readers of the checkout.
CODE_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)?(?:src/|tests/|script/|CITATION|LICENSE)[^)]*\)")
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
FIRST = {
    "Score": ["formats", "protocols", "metrics", "output", "python", "performance"],
    "Analyse": ["compare", "lineage", "rankings"],
    "Data, trackers, people": ["data", "track", "rating", "integrations"],
    "Reference": ["commands", "api", "design"],
}


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """The path and the help of a command, and of those below it."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, click.Context(inner, info_name=name, parent=context))


def command_page() -> str:
    """The help of every command, as it is printed."""
    context = click.Context(cli, info_name="dsteval", terminal_width=80, max_content_width=80)
    blocks = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in commands(cli, context)]
    return "# Command line\n\nWhat `--help` prints for every command.\n\n" + "\n".join(blocks)


def api_page() -> str:
    """Every public name with its docstring."""
    names = [name for name in dsteval.__all__ if not name.startswith("_")]
    about = "# Python reference\n\nThe names of the package; everything else may change.\n\n"
    directives = []
    for name in names:
        thing = getattr(dsteval, name)
        kind, members = ("autoclass", "   :members:\n") if isinstance(thing, type) else ("autofunction", "")
        directives.append(f".. py:currentmodule:: dsteval\n\n.. {kind}:: dsteval.{name}\n{members}\n")
    listed = "".join(f"- `dsteval.{name}`: {metrics.find(name).about}\n" for name in metrics.names())
    return f"{about}```{{eval-rst}}\n{''.join(directives)}```\n\n## Metrics\n\n{listed}"


def contents() -> str:
    """The site's table of contents, which the README does without."""
    rest = sorted(
        {page.stem for page in (ROOT / "docs").glob("*.md")} - {name for names in FIRST.values() for name in names}
    )
    sections = {**FIRST, "More": [f"docs/{name}" for name in rest]}
    sections = {
        title: [name if "/" in name else f"docs/{name}" for name in names] for title, names in sections.items()
    }
    sections["More"] += ["CONTRIBUTING", "CHANGELOG"]
    lists = ("\n".join(names) for names in sections.values())
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n"
        for title, listed in zip(sections, lists, strict=True)
    )


def stage(folder: Path) -> None:
    """Write all pages to a folder, the README as the first of them."""
    (folder / "docs").mkdir()
    for page in [*map(ROOT.joinpath, PAGES), *(ROOT / "docs").glob("*.md")]:
        place = folder / page.relative_to(ROOT)
        text = CODE_LINK.sub(r"\1", page.read_text()).replace("README.md", "index.md")
        place.write_text(text.replace("```csv", "```text"))  # which the highlighter does not know
    (folder / "README.md").rename(folder / "index.md")
    with (folder / "index.md").open("a") as index:
        index.write(contents())
    (folder / "docs" / "commands.md").write_text(command_page())
    (folder / "docs" / "api.md").write_text(api_page())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as staged:
        stage(Path(staged))
        sys.exit(sphinx(["-q", "-W", "--keep-going", "-b", "html", "-c", str(ROOT / "docs"), staged, sys.argv[1]]))
