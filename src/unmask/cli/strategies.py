"""`unmask strategies`: the samplers of the literature, and the parts that strategies are made of."""

from __future__ import annotations

from unmask.cli.console import Output


def strategies(*, output: Output | None = None) -> None:
    """List the samplers of the literature by name, and all parts that a strategy can be made of.

    A name or a text of the list is what --strategy takes; numbers in a text are there to be changed.
    """
    output = output or Output()
    from unmask.strategies import LITERATURE
    from unmask.strategy import ROOMS, find, names

    if output.json:
        for name, entry in LITERATURE.items():
            output.data({"name": name, **vars(entry)})
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True, style="cyan")
    table.add_column("strategy", overflow="fold")
    table.add_column("source", overflow="fold", style="dim")
    for name, entry in LITERATURE.items():
        note = f"\n[dim]{escape(entry.note)}[/dim]" if entry.note else ""
        table.add_row(name, escape(entry.text) + note, escape(f"{entry.source} ({entry.checked})"))
    console = output.out
    console.soft_wrap = False
    console.print(table)
    if output.quiet:
        return
    console.print("\n[bold]parts[/bold]  oracle, pace, choice[, revision][, window]", highlight=False)
    for room in ROOMS:
        console.print(f"\n[bold]{room}[/bold]")
        for name in sorted(n for n, home in names().items() if home == room):
            kind = find(name)
            options = ", ".join(getattr(kind, "__dataclass_fields__", {}))
            usage = f"{name}({options})" if options else name
            about = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
            console.print(f"  [cyan]{escape(usage)}[/cyan]  {escape(about)}")
