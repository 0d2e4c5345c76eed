"""A run's checkpoints as one self-contained SVG: how long each took, and how large it was."""

from collections.abc import Callable, Iterator, Sequence
from html import escape

from impl.metrics import CheckpointMeasures

_WIDTH, _PANEL, _LEFT, _TOP, _GAP = 900, 170, 70, 40, 60
_ATTEMPTS = ("#0072b2", "#e69f00")
"""Colours of the attempts, in turn: where it changes the job was restored."""


def svg(checkpoints: Sequence[CheckpointMeasures], title: str) -> str:
    """The picture. Raises ValueError without a checkpoint."""
    if not checkpoints:
        raise ValueError("no checkpoint was completed, so there is nothing to draw")
    height = _TOP + 2 * (_PANEL + _GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="15">{escape(title)}</text>',
        *_panel(checkpoints, _TOP, "ms from trigger to completion; dark: longest alignment", _times),
        *_panel(checkpoints, _TOP + _PANEL + _GAP, "KiB of all snapshots", _sizes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _times(one: CheckpointMeasures) -> tuple[float, float]:
    return one.duration_ms, min(one.alignment_ms, one.duration_ms)


def _sizes(one: CheckpointMeasures) -> tuple[float, float]:
    return one.bytes / 1024, 0.0


Value = Callable[[CheckpointMeasures], tuple[float, float]]


def _panel(checkpoints: Sequence[CheckpointMeasures], top: int, label: str, value: Value) -> Iterator[str]:
    """Bars, one a checkpoint, coloured by attempt."""
    values = [value(one) for one in checkpoints]
    most = max(whole for whole, _ in values) or 1.0
    step = (_WIDTH - _LEFT - 20) / len(values)
    attempts = dict.fromkeys(one.attempt for one in checkpoints)
    colour = {attempt: _ATTEMPTS[place % 2] for place, attempt in enumerate(attempts)}
    base = top + _PANEL
    yield f'<text x="{_LEFT}" y="{top + 2}">{escape(label)}</text>'
    for share in (0.5, 1.0):
        y = base - share * (_PANEL - 20)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{most * share:,.4g}</text>'
    for place, (one, (whole, part)) in enumerate(zip(checkpoints, values, strict=True)):
        x, tall, dark = _LEFT + place * step, whole / most * (_PANEL - 20), part / most * (_PANEL - 20)
        told = escape(f"checkpoint {one.checkpoint}, attempt {one.attempt}: {whole:,.4g}")
        yield (
            f'<rect x="{x:.1f}" y="{base - tall:.1f}" width="{max(step * 0.8, 0.5):.1f}" height="{tall:.1f}" '
            f'fill="{colour[one.attempt]}"><title>{told}</title></rect>'
        )
        if dark:
            yield (
                f'<rect x="{x:.1f}" y="{base - dark:.1f}" width="{max(step * 0.8, 0.5):.1f}" '
                f'height="{dark:.1f}" fill="#222" fill-opacity="0.6"/>'
            )
    for place in sorted({0, len(values) // 2, len(values) - 1}):
        x = _LEFT + (place + 0.4) * step
        yield f'<text x="{x:.1f}" y="{base + 16}" text-anchor="middle">{checkpoints[place].checkpoint}</text>'
    yield f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{base}" y2="{base}" stroke="#444"/>'
