"""The pictures as files: an SVG each, and the page that shows them."""

from collections.abc import Iterator

from conformance.pictures.coordinating import PARTS_OF_COORDINATOR
from conformance.pictures.draw import svg
from conformance.pictures.graph import walk, walk_closed
from conformance.pictures.joined import JOINED
from conformance.pictures.subjects import LISTED, SUBJECTS

PAGE = "README.md"


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each file; the same model always makes the same text."""
    page = [
        "# State graphs of the protocol's parts",
        "",
        "`make pictures` makes these pictures from the model. A box is a state, as it is observable, and the "
        "green one is the start. An arrow is an event; behind a stroke stand its effects (T triggers, A "
        "aborts, C completes or commits, D deletes). Events that change nothing are not drawn, and a dashed "
        "arrow leads back. Boxes that look alike differ in what cannot be observed.",
    ]
    graphs = {subject.name: walk(subject) for subject in SUBJECTS}
    graphs |= {closed.name: walk_closed(closed) for closed in (*PARTS_OF_COORDINATOR, *JOINED)}
    for name, listed in LISTED.items():
        title = listed["title"]
        page += ["", f"## {title}", "", listed["reads"], "", f"![{title}]({name}.svg)"]
        yield f"{name}.svg", svg(title, graphs[name])
    yield PAGE, "\n".join(page) + "\n"
