"""Commands whose ``--help`` has groups of options and examples, and which suggest the nearest name."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

COMMON = "Common options"
"""The group that comes first: the options that are used most."""

_WIDEST = 30  # characters of an option and its value; what is wider gets a line of its own

Example = tuple[str, str]
"""What a command does, and the command."""


class GroupedOption(click.Option):
    """An option that ``--help`` lists in a ``group``."""

    def __init__(self, *args: Any, group: str = COMMON, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.group = group


option = partial(click.option, cls=GroupedOption)


class Command(click.Command):
    """A command whose ``--help`` has options by group, common ones first, then examples."""

    def __init__(self, *args: Any, examples: Sequence[Example] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments. Suggests the nearest name only for a wrong option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            nearest = (error.possibilities or [])[:1]
            raise click.NoSuchOption(error.option_name, possibilities=nearest, ctx=ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of a group, then the options in their groups, all descriptions in one column."""
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        groups: dict[str, list[tuple[str, str]]] = {COMMON: []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                groups.setdefault(getattr(param, "group", COMMON), []).append(record)
        width = min(_WIDEST, max(len(name) for records in groups.values() for name, _ in records))
        for group, records in groups.items():
            with formatter.section("Options" if len(groups) == 1 else group):
                formatter.write_dl([(name.ljust(width), about) for name, about in records], col_max=_WIDEST)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and below them the epilog."""
        if self.examples:
            with formatter.section("Examples"):
                for about, command in self.examples:
                    formatter.write(f"{'':2}{about}:\n{'':4}{command}\n")
        super().format_epilog(ctx, formatter)


class CommandGroup(Command, click.Group):
    """A command that has commands of its own."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called. Suggests the nearest name for one that does not exist."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known and not ctx.resilient_parsing:
            from dsteval.errors import unknown

            ctx.fail(unknown("command", args[0], known))
        return super().resolve_command(ctx, args)
