"""``dsteval completion``: what the shell runs to complete commands, options and values."""

import click
from click.shell_completion import BashComplete, FishComplete, add_completion_class, get_completion_class

from dsteval.cli.command import Command
from dsteval.cli.output_files import put
from dsteval.cli.values import OneOf


@add_completion_class
class _Bash(BashComplete):
    """Bash's completion, with names of files beside those of data sets, and values after ``--option=``."""

    # Readline's own completion of files deals with quotes and ~, but only runs where there is no other candidate.
    source_template = """\
%(complete_func)s() {
    local response type value files= word=${COMP_WORDS[COMP_CWORD]}
    response=$(IFS=$'\\n'; env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \\
        %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            plain) COMPREPLY+=("$value") ;;
            file) files=yes ;;
        esac
    done <<< "$response"
    [[ $files ]] || return 0
    if ((${#COMPREPLY[@]})); then
        [[ $word == = ]] && word=
        compopt -o filenames
        while IFS= read -r value; do
            COMPREPLY+=("$value")
        done < <(compgen -f -- "$word")
    else
        compopt -o default
    fi
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the one at it. Bash takes the = of ``--option=value`` for a word."""
        words, incomplete = super().get_completion_args()
        befores = ["", *words]
        kept = [word for word, before in zip(words, befores, strict=False) if word != "=" or before[:2] != "--"]
        return kept, incomplete


@add_completion_class
class _Fish(FishComplete):
    """Fish's completion, with descriptions that hold commas."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')


@click.command(
    "completion",
    cls=Command,
    examples=[
        ("Install for bash: add this line to ~/.bashrc", 'eval "$(dsteval completion bash)"'),
        ("Install for zsh: add this line to ~/.zshrc, after compinit", 'eval "$(dsteval completion zsh)"'),
        ("Install for fish", "dsteval completion fish > ~/.config/fish/completions/dsteval.fish"),
    ],
)
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    It completes commands, options, file names, and values such as protocols, metrics, formats and data sets. Bash
    must be version 4.4 or newer.
    """
    complete = get_completion_class(shell)
    assert complete is not None
    put(complete(click.get_current_context().find_root().command, {}, "dsteval", "_DSTEVAL_COMPLETE").source())
