"""Decision trees, which join all paths of a function (`model.checker.paths`) in one tree.

A search depth first tests the same condition next on all paths that begin with the same answers. So the paths
are the leaves of one tree. Its branches are the conditions whose answer earlier answers did not imply.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import z3

from model.checker.symbolic import bool_term


class Branch(NamedTuple):
    """A condition, the tree if it holds, and the tree if it does not hold."""

    condition: z3.BoolRef
    yes: Any
    no: Any


Tree = Any
"""A Branch, or a leaf."""


def tree_of(paths: Sequence[tuple[tuple[z3.BoolRef, ...], Any]], depth: int = 0) -> Tree:
    """The tree of the paths, of which there is at least one. A path is its decisions and its leaf."""
    decided, leaf = paths[0]
    if len(decided) == depth:
        return leaf
    condition = decided[depth].arg(0) if z3.is_not(decided[depth]) else decided[depth]
    yes = [path for path in paths if not z3.is_not(path[0][depth])]
    no = [path for path in paths if z3.is_not(path[0][depth])]
    if not yes or not no:  # no path has the other answer
        return tree_of(yes or no, depth + 1)
    return Branch(condition, tree_of(yes, depth + 1), tree_of(no, depth + 1))


def merged(tree: Tree) -> Tree:
    """The tree without the conditions after which both trees are equal."""
    if not isinstance(tree, Branch):
        return tree
    yes, no = merged(tree.yes), merged(tree.no)
    return yes if fingerprint(yes) == fingerprint(no) else Branch(tree.condition, yes, no)


def fingerprint(tree: Tree) -> object:
    """A value that two trees share if they are equal. Valid while both trees exist."""
    if isinstance(tree, Branch):
        return (tree.condition.get_id(), fingerprint(tree.yes), fingerprint(tree.no))
    return tree


def mapped(tree: Tree, change: Callable[[Any], Any]) -> Tree:
    """The same tree, with `change` applied to each leaf."""
    if isinstance(tree, Branch):
        return Branch(tree.condition, mapped(tree.yes, change), mapped(tree.no, change))
    return change(tree)


def leaves(tree: Tree) -> Iterator[Any]:
    """Every leaf."""
    if isinstance(tree, Branch):
        yield from leaves(tree.yes)
        yield from leaves(tree.no)
    else:
        yield tree


def holds(tree: Tree) -> z3.BoolRef:
    """One term for a tree with truth values as leaves: the leaf that the conditions select is true."""
    if isinstance(tree, Branch):
        return z3.If(tree.condition, holds(tree.yes), holds(tree.no))
    return bool_term(tree)
