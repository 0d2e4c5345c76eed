"""Makes the files of `docs/pictures/`: one SVG for each picture, and the page that shows them all."""

from collections.abc import Iterator

from conformance.pictures.composed import JOINED
from conformance.pictures.coordinator_parts import PARTS_OF_COORDINATOR
from conformance.pictures.draw import svg
from conformance.pictures.graph import walk, walk_closed
from conformance.pictures.subjects import LISTED, SUBJECTS

PAGE = "README.md"


def files() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file. Equal models give equal text."""
    page = [
        "# State graphs of the protocol's parts",
        "",
        "`make pictures` makes these pictures from the model. A box is an observable state; the green box is "
        "the start. An arrow is an event. Its effects follow a slash: T triggers, A aborts, C completes or "
        "commits, D deletes. Events that do not change the state are omitted. A dashed arrow leads "
        "to an earlier state. Two boxes with the same text differ in fields that are not observable.",
    ]
    graphs = {subject.name: walk(subject) for subject in SUBJECTS}
    graphs |= {closed.name: walk_closed(closed) for closed in (*PARTS_OF_COORDINATOR, *JOINED)}
    for name, listed in LISTED.items():
        title = listed["title"]
        page += ["", f"## {title}", "", listed["reads"], "", f"![{title}]({name}.svg)"]
        yield f"{name}.svg", svg(title, graphs[name])
    yield PAGE, "\n".join(page) + "\n"
