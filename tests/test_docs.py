"""The pages are run: commands print what is shown, Python examples hold, and nothing that is at hand is left out.

A page's fenced blocks are of four kinds:

    ```json NAME      a file of that name, written where the page's commands run (any language will do)
    ```console        '$ dsteval ...' and what it prints: stdout, or the sentence on stderr where it is refused
    ```python         a doctest where it has prompts, else code that must run; a page's blocks share their names;
                      one with a NAME is a file, which commands or tests/integrations run
    other             not run

``dsteval`` is the package that the tests import, wherever it comes from. ``python tests/test_docs.py`` writes into
every console block what its commands print now; read the diff.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import pytest
from click.testing import CliRunner

import dsteval
from dsteval import metrics, readers
from dsteval.analysis.describe import Description
from dsteval.analysis.validation import validate
from dsteval.cli import cli
from dsteval.data import catalogue as catalog
from dsteval.dialogue import Dialogue, Frame, Turn
from dsteval.outcomes.slices import BY, CONVENTIONS
from dsteval.outcomes.table import UNIT
from dsteval.protocols import model as protocol
from dsteval.protocols.model import Match, Prepare, Protocol, Scope, States
from dsteval.protocols.steps import STEPS
from dsteval.readers import Source
from dsteval.readers.jsonl_writer import lines as written_lines
from dsteval.render.scores import scores_table
from dsteval.values.matchers import MATCHERS
from dsteval.values.normalise import NORMALISERS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

_BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a page; ``line`` is that of its first line of text, ``span`` its text's place."""

    page: Path
    line: int
    kind: str
    file: str | None
    text: str
    span: tuple[int, int]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, m.start(3)) + 1, m[1], m[2], m[3], m.span(3))
        for m in _BLOCK.finditer(text)
    ]


def named(page: Path) -> str:
    """A page as a message calls it."""
    return page.relative_to(ROOT).as_posix()


CONSOLE = [
    block for page in PAGES for block in blocks(page) if block.kind == "console" and "$ dsteval" in block.text
]


def prepare(page: Path, folder: Path) -> None:
    """Write the files that a page shows, and give it the checkout's ``src``."""
    (folder / "src").symlink_to(ROOT / "src", target_is_directory=True)
    for block in blocks(page):
        if block.file is not None:
            place = folder / block.file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")


def commands(text: str) -> Iterator[str]:
    """The commands of a console block as typed, backslashes at the ends of lines included."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            typed = [line[2:]]
            while typed[-1].endswith("\\"):
                typed.append(next(lines))
            yield "\n".join(typed)


def printed(command: str, folder: Path) -> str:
    """What a command shows: its stdout, and where it is refused what it says, without the formats read."""
    # A dsteval on PATH may be another version than the one under test.
    package = str(Path(dsteval.__file__).resolve().parent.parent)
    environment = os.environ | {"PYTHONPATH": package, "PYTHONUTF8": "1", "PYTHON": sys.executable}
    shim = 'dsteval() { "$PYTHON" -m dsteval "$@"; }'
    done = subprocess.run(
        ["bash", "-c", f"{shim}\n{command}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if ": read as " not in line]
    lines = done.stdout.splitlines() + (told if done.returncode else [])
    return "".join(f"{line.rstrip()}\n" for line in lines)


def transcript(block: Block, folder: Path) -> str:
    """A console block as it ought to be."""
    shown = [f"$ {command}\n{printed(command, folder)}" for command in commands(block.text)]
    return "\n".join(shown) if "\n\n$ " in block.text else "".join(shown)


@pytest.mark.parametrize("block", CONSOLE, ids=[f"{named(block.page)}:{block.line}" for block in CONSOLE])
def test_commands_print_what_the_page_shows(block: Block, tmp_path: Path) -> None:
    assert block.text.startswith("$ dsteval"), "a console block starts with a command of dsteval"
    prepare(block.page, tmp_path)
    assert block.text == transcript(block, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_examples_hold(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(page):
        if block.kind != "python" or block.file is not None:
            continue
        where = f"{named(page)}:{block.line}"
        if ">>> " not in block.text:
            exec(compile("\n" * (block.line - 1) + block.text, where, "exec"), names)
            continue
        told: list[str] = []
        test = doctest.DocTestParser().get_doctest(block.text, names, where, str(page), block.line - 1)
        doctest.DocTestRunner(verbose=False).run(test, out=told.append, clear_globs=False)
        names = test.globs
        assert not told, "".join(told)


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> slug("`FGA@L`: flexible goal accuracy")
    'fgal-flexible-goal-accuracy'
    """
    kept = re.sub(r"[^\w\- ]", "", heading.strip().casefold())
    return kept.replace(" ", "-")


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def headings(page: Path) -> list[str]:
    """The headings of a page."""
    return re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)


@pytest.mark.parametrize("page", LINKED, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), f"{named(page)} links to {target}, which is not there"
        if anchor:
            anchors = {slug(heading) for heading in headings(place)}
            assert anchor in anchors, f"{named(page)} links to {target}, and that page has no such heading"


def section(page: Path, name: str) -> str:
    """The text under the heading that names something, up to the next of its rank."""
    text = page.read_text(encoding="utf-8")
    heading = rf"^(#+) [^\n]*`{re.escape(name)}`[^\n]*\n"
    found = re.search(heading + r"(.*?)(?=^\1 |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{named(page)} has no heading with `{name}`"
    return found[2]


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_has_its_section(name: str) -> None:
    metric = metrics.find(name)
    text = section(ROOT / "docs/metrics.md", f"{name}@L" if metric.number_about else name)
    for key, parameter in metric.parameters.items():
        for choice in parameter.choices:
            assert f"`{key}={choice}`" in text, f"docs/metrics.md, {name}: `{key}={choice}` is not explained"


@pytest.mark.parametrize("name", readers.names())
def test_every_reader_has_its_section_and_row(name: str, tmp_path: Path) -> None:
    page = ROOT / "docs/formats.md"
    text = section(page, name)
    row = f"| [`{name}`](#{slug(name)}) | {readers.find(name).sides} |"
    assert row in page.read_text(encoding="utf-8"), f"docs/formats.md lacks a row that begins {row}"
    # Each sample of the section, a file or a folder of them, is recognised as this format and read.
    prepare(page, tmp_path)
    samples = {block.file.partition("/")[0]: None for block in blocks(page) if block.file and block.text in text}
    assert samples, f"docs/formats.md, {name}: no sample"
    for sample in samples:
        source = Source.open(tmp_path / sample)
        assert readers.detect(source).reader.name == name
        assert list(readers.read(source, "pred"))


def test_every_field_of_our_lines_is_explained() -> None:
    text = section(ROOT / "docs/formats.md", "dsteval-jsonl")
    pairs: list[tuple[str, Any]] = [("a-b", "x"), ("a-b", "x")]
    frames = [Frame("a", pairs, "intent", ["b"])]
    turn = Turn(0, pairs[:1], pairs[:1], "", "", correctness=[1])
    dialogues = [
        Dialogue("1", [turn], gaps=True, alone=True),
        Dialogue("2", [Turn(0, pairs[:1], pairs, ref_frames=frames)], updates=("pred",)),
        Dialogue("3", [Turn(0, pred=pairs[:1])], updates=("pred",)),
    ]
    found = {key for line in written_lines(dialogues) for key in keys(msgspec.json.decode(line))} - {"a-b"}
    found |= {key for line in written_lines(dialogues[1:], "pred") for key in msgspec.json.decode(line)}
    missing = [key for key in sorted(found | {"state"}) if f"`{key}`" not in text and f'"{key}"' not in text]
    assert not missing, f"docs/formats.md, dsteval-jsonl, does not tell of {', '.join(missing)}"


def test_every_data_set_is_listed() -> None:
    text = (ROOT / "docs/data.md").read_text(encoding="utf-8")
    for name, dataset in catalog.load().items():
        row = next((line for line in text.splitlines() if line.startswith("|") and f"`{name}`" in line), "")
        assert f"| {', '.join(dataset.splits)} |" in row, f"docs/data.md lacks {name} with its splits"


USUAL = {"dontcare": "literal", "alternatives": "literal", "rule": "exact", "unit": "turn"}
"""What the head of the list of settings says, besides canonical slots and the defaults of the model."""


def settings_of(table: msgspec.Struct) -> Iterator[str]:
    """The settings in one table of a protocol that are not the usual ones; long lists by their length."""
    for field in msgspec.structs.fields(table):
        name, value = field.name, getattr(table, field.name)
        if value in ((), "canonical", "auto", field.default, USUAL.get(name)) or name == "leave_out_why":
            continue
        if isinstance(value, tuple):
            separator = ", " if name.startswith("absent") else " "
            value = separator.join(one or '""' for one in value) if len(value) <= 10 else f"{len(value)} slots"
        yield f"|S| {value}" if isinstance(value, int) else f"{name} {value}"


def settings_line(loaded: Protocol) -> str:
    """A protocol's line in the list of settings."""
    settings = [
        one for part in (loaded.states, loaded.match, loaded.prepare, loaded.scope) for one in settings_of(part)
    ]
    settings += [
        f"{name}({','.join(f'{key}={value}' for key, value in chosen.items())})"
        for name, chosen in loaded.metrics.parameters.items()
        if name != "TurnMatch" and chosen != {"variant": "official"}
    ]
    settings += [f"{name} is {other}" for name, other in loaded.metrics.means.items()]
    return f"- `{loaded.name}`: {'; '.join(settings)}"


def figures(text: str) -> set[str]:
    """The figures of a text that have decimals, to two of them."""
    return {f"{float(figure):.2f}" for figure in re.findall(r"\d+\.\d\d+", text)}


@pytest.mark.parametrize("name", protocol.names())
def test_every_protocol_has_its_section_its_settings_and_its_figures(name: str) -> None:
    page = ROOT / "docs/protocols.md"
    loaded = protocol.load(name)
    assert section(page, name).strip()
    text = page.read_text(encoding="utf-8")
    line = settings_line(loaded)
    assert line in text.splitlines(), f"docs/protocols.md lacks the line\n{line}"
    missing = figures(" ".join(loaded.checked)) - figures(text)
    assert not missing, f"docs/protocols.md, {name}: lacks the published {', '.join(sorted(missing))}"


def test_every_setting_is_explained() -> None:
    text = (ROOT / "docs/protocols.md").read_text(encoding="utf-8").partition("## Settings")[2]
    assert text.strip()
    known: dict[str, type[msgspec.Struct]] = {"states": States, "match": Match, "prepare": Prepare, "scope": Scope}
    for table, model in known.items():
        for field in msgspec.structs.fields(model):
            assert f"`{table}.{field.name}`" in text, f"docs/protocols.md does not explain {table}.{field.name}"
    for name in (*NORMALISERS, *MATCHERS, *STEPS):
        assert f"`{name}`" in text, f"docs/protocols.md does not explain {name}"


def every_command(command: click.Command = cli, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command: none for the outermost, two where a command has commands of its own."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from every_command(inner, (*words, name))


def options(words: tuple[str, ...]) -> set[str]:
    """The long options of a command, or of none, as the help lists them."""
    help_text = CliRunner().invoke(cli, [*words, "--help"]).output
    return set(re.findall(r"^ .*?(--[a-z][a-z-]*)", help_text, re.MULTILINE))


def test_every_command_is_told_and_no_other() -> None:
    known = {" ".join(("dsteval", *words)) for words in every_command()}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [command for command in sorted(known) if not re.search(rf"{command}\b", text)]
    assert not missing, f"the pages do not tell of {', '.join(missing)}"
    typed = [
        line for page in PAGES for block in blocks(page) if block.kind == "sh" for line in block.text.splitlines()
    ]
    for line in typed:
        for word in re.findall(r"\bdsteval ([a-z]\S*)", line.partition("#")[0]):
            assert f"dsteval {word}" in known, f"{line!r} is not a command"


def test_every_option_is_told_and_no_other() -> None:
    known = {option for words in every_command() for option in options(words)}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    missing = known - told - {"--help"}
    assert not missing, f"the pages do not tell of {', '.join(sorted(missing))}"
    assert told <= known, f"the pages tell of options that are none: {', '.join(sorted(told - known))}"


def keys(value: Any) -> Iterator[str]:
    """Every key of a JSON document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def test_output_is_told_field_by_field() -> None:
    text = (ROOT / "docs/output.md").read_text(encoding="utf-8")
    ref = {"d": [{"hotel-area": "North"}], "e": [{}]}
    result = dsteval.evaluate(
        ref, {"d": [{}], "f": [{}]}, by=["domain"], changes=True, missing="empty", extra="ignore", updates=True
    )
    tidy = scores_table([result], paper=True).tidy
    assert tidy is not None
    explanation = dsteval.explain(ref, {"d": [{}]}, "d").to_dict()
    report = validate(Source.of("d", {"d": [{}]})).to_dict()
    told = [*keys(result.to_dict()), *keys(explanation), *report, *tidy.columns]
    for key in dict.fromkeys(told):
        assert f"`{key}`" in text, f"docs/output.md does not tell of {key!r}"
    for part in {part for one in result.slices for part in one.scores[0].signature.split("|")[1:]}:
        assert f"`{part.partition(':')[0]}:" in text, f"docs/output.md does not tell of {part!r} in a signature"
    described = (ROOT / "docs/data.md").read_text(encoding="utf-8")
    for key in Description("", 0, 0, 0, 0).to_dict():
        assert f"`{key}`" in described, f"docs/data.md does not tell of {key!r}"


def test_every_slice_is_told() -> None:
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    for word in (*BY, *CONVENTIONS):
        assert f"`{word}`" in text, f"docs/metrics.md does not tell of {word!r}"


def test_the_map_of_the_code_is_whole() -> None:
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    package = ROOT / "src/dsteval"
    parts = [f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").exists()]
    parts += [path.name for path in package.glob("[a-z]*.py")]
    for part in parts:
        assert f"`{part}`" in text, f"docs/design.md does not tell what {part} is"
    for column in UNIT:
        assert f"`{column}`" in text, f"docs/design.md does not tell what the column {column!r} counts"


def rewrite(page: Path) -> None:
    """Bring a page's console blocks up to date."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        prepare(page, Path(folder))
        for block in reversed([block for block in CONSOLE if block.page == page]):
            start, end = block.span
            text = text[:start] + transcript(block, Path(folder)) + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for one in PAGES:
        rewrite(one)
