"""Notes and errors on standard error; ``--quiet`` leaves only errors."""

import click


def is_quiet() -> bool:
    """Whether the command was given ``--quiet``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("quiet"))


def note(text: str) -> None:
    """Print a note, unless ``--quiet`` was given."""
    if not is_quiet():
        click.echo(text, err=True)


def failure(text: str) -> None:
    """Print an error, whether ``--quiet`` was given or not."""
    click.echo(f"dsteval: {text}", err=True)
