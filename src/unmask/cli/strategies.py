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
    from rich.padding import Padding

    console = output.out
    console.soft_wrap = False
    for name, entry in LITERATURE.items():
        console.print(f"[cyan]{name}[/cyan]  [dim]{escape(f'{entry.source} ({entry.checked})')}[/dim]")
        console.print(f"    {escape(entry.text)}", soft_wrap=True)  # on one line, to be copied
        if entry.note:
            console.print(Padding(f"[dim]{escape(entry.note)}[/dim]", (0, 0, 0, 4)))
    if output.quiet:
        return
    console.print("\n[bold]parts[/bold]  oracle, pace, choice[, revision][, window]", highlight=False)
    for room in (*ROOMS, "objectives"):
        console.print(f"\n[bold]{room}[/bold]" + ("  what a net is trained to do" if room == "objectives" else ""))
        for name in sorted(n for n, home in names().items() if home == room):
            kind = find(name)
            options = ", ".join(getattr(kind, "__dataclass_fields__", {}))
            usage = f"{name}({options})" if options else name
            about = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
            console.print(f"  [cyan]{escape(usage)}[/cyan]")
            console.print(Padding(escape(about), (0, 0, 0, 6)))
