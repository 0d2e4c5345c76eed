"""The pictures as files: an SVG each, and the page that shows them."""

from collections.abc import Iterator

from conformance.pictures.coordinating import PARTS_OF_COORDINATOR
from conformance.pictures.draw import svg
from conformance.pictures.graph import walk, walk_closed
from conformance.pictures.joined import JOINED
from conformance.pictures.subjects import SUBJECTS

PAGE = "README.md"


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each file; the same model always makes the same text."""
    told = [
        "# State graphs of the protocol's parts",
        "",
        "Made by `make pictures` from the model: a box is a state, as it is observable, and the green one "
        "the start; an arrow is an event, and behind a stroke what it makes the part say (T triggers, A "
        "aborts, C completes or commits, D deletes). What changes nothing is not drawn; a dashed arrow leads "
        "back. Boxes that look alike differ in what cannot be observed.",
    ]
    drawn = [(part.name, part.title, part.reads, walk(part)) for part in SUBJECTS]
    drawn += [
        (whole.name, whole.title, whole.reads, walk_closed(whole))
        for whole in (*PARTS_OF_COORDINATOR, *JOINED)
    ]
    for called, title, reads, graph in drawn:
        name = f"{called}.svg"
        told += ["", f"## {title}", "", reads, "", f"![{title}]({name})"]
        yield name, svg(title, graph)
    yield PAGE, "\n".join(told) + "\n"
