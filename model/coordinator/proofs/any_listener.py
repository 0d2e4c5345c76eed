"""The reports of any number of tasks to the listener of 2.3, for the proofs of `any_number`.

`ListenerSteps.report` loops over tasks, and each report may start or stop the scheduler. The function of this
module has the same result without a loop, for the three kinds of reports that occur in steps.
"""

from typing import Any

from model.checker.any_number.members import Many
from model.checker.any_number.rope import cells_of
from model.checker.any_number.sequence_functions import any_, tuple_, zip_
from model.checker.symbolic import SymbolicUseError
from model.events import Effects, Step


def report(steps: Any, coordinator: Any, tasks: tuple[Any, ...]) -> Step[Any]:  # noqa: ANN401 - as read again
    """`model.coordinator.job_status_listener.ListenerSteps.report` over ropes.

    The result is equal to that of the loop in three cases. First: one task reports. Second: no task runs or
    has finished, so only the first report can stop the scheduler. Third: the listener has stopped the
    scheduler and awaits all tasks. It starts the scheduler at the last report, and a running task may start
    the scheduler before. Raises SymbolicUseError in all other cases.
    """
    scheduler = coordinator.scheduler
    if not steps.listens_to_tasks(coordinator) or not any_(tasks):
        return Step(coordinator, (), ())
    known = (tasks, coordinator.tasks_run, coordinator.tasks_finished, scheduler.awaited)
    reporting = cells_of(tuple_(reports for reports in tasks if reports))
    if len(reporting) != 1 or isinstance(reporting[0], Many):
        some_ready = any_(reports and (runs or over) for reports, runs, over, _ in zip_(*known))
        some_not_awaited = any_(reports and not waits for reports, _, _, waits in zip_(*known))
        if some_ready and (scheduler.follows or some_not_awaited):
            raise SymbolicUseError("these reports may start the scheduler before the last of them")
    effects: Effects = ()
    some_run = any_(reports and runs for reports, runs, _, _ in zip_(*known))
    if coordinator.open and not scheduler.runs and some_run:
        coordinator, effects, _ = steps.start_scheduler(coordinator)
    reported = coordinator.scheduler._replace(
        awaited=tuple_(
            not (runs or over) if reports else waits for reports, runs, over, waits in zip_(*known)
        ),
        unreported=tuple_(
            False if reports else fresh for reports, fresh in zip_(tasks, coordinator.scheduler.unreported)
        ),
    )
    coordinator, emitted, rules = steps.follow_listener(coordinator._replace(scheduler=reported))
    return Step(coordinator, (*effects, *cells_of(emitted)), rules)
