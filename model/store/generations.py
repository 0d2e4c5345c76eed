"""The steps of older generations of the store, Flink 1.9 to 1.14.

A class derives from the class of the next newer generation. It overrides the steps in which its generation
and the older ones differ. `store_steps` selects the class for a store.
"""

from collections.abc import Mapping

from model.coordinator.profiles import COORDINATOR_PROFILES, PROPOSED_COORDINATORS, CoordinatorProfile
from model.events import Effects, Rules
from model.store.store import Entry, Store, StoreSteps


class SubsumesSilently(StoreSteps):
    """1.12 to 1.14: the store does not report the checkpoints that it has dropped."""

    def notify_subsumed(self, deleted: tuple[int, ...]) -> Effects:
        """No effect: the store reports nothing."""
        return ()


class DropsTheOldest(SubsumesSilently):
    """1.9 to 1.11: the store drops the oldest entry of any type (SUB-10)."""

    def rules_of(self, *, drops: bool) -> Rules:
        """The rules that fire at an addition. `drops`: the store drops an entry."""
        return ("SUB-06", "SUB-10", "SUB-09") if drops else ("SUB-06", "SUB-10")

    def may_drop(self, entries: tuple[Entry, ...], position: int) -> bool:
        """Whether the store may drop the entry: every entry except the one that was added last."""
        return position < len(entries) - 1


_NEWEST = StoreSteps()
_SILENT = SubsumesSilently()
_OLDEST = DropsTheOldest()
_STEPS: Mapping[CoordinatorProfile, StoreSteps] = {
    **dict.fromkeys((*COORDINATOR_PROFILES.values(), *PROPOSED_COORDINATORS.values()), _NEWEST),
    **dict.fromkeys(
        (COORDINATOR_PROFILES[name] for name in ("1.12", "1.13", "1.14.0", "1.14.3", "1.14")), _SILENT
    ),
    **dict.fromkeys((COORDINATOR_PROFILES[name] for name in ("1.9", "1.11")), _OLDEST),
}


def store_steps(store: Store) -> StoreSteps:
    """The steps of the store's generation."""
    return _STEPS[store.profile]
