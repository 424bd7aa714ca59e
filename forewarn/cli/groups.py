"""Groups of commands whose list shows the whole first sentence of each, however long."""

import click

WHOLE = 1000


class Group(click.Group):
    """A group that wraps the help of its commands instead of cutting it off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, in the order in which they are listed."""
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, own.get_short_help_str(WHOLE)) for name, own in named if own is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
