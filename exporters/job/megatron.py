"""Lines of Megatron-LM and its forks become steps, checkpoints and evaluations.

Source of the shapes: megatron/training/training.py (training_log), checkpointing.py, and what
forks made of them. Values are averages since the line before.
"""

import math
import re

from exporters.job.lines import Close, Edge, Number, Phase, Span, Step

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_STEP = re.compile(r"\biteration\s+(?P<step>\d+)/\s*\d+ \|(?P<fields>.*)")
_BAD = re.compile(r"Unexpected result (?:nan|inf|-inf)\b.* at iteration #(?P<step>\d+)", re.I)
_LOSS = re.compile(r"\bloss\Z")
_TFLOPS = ("throughput per GPU (TFLOP/s/GPU)", "TFLOPs")
TERA = 1e12
# A piece of the line, and what it means.
_SPANS: tuple[tuple[str, Phase, Edge], ...] = (
    ("saving checkpoint at iteration", "checkpoint", "begin"),
    ("successfully saved checkpoint", "checkpoint", "end"),
    ("Evaluating on ", "evaluation", "begin"),
    ("validation loss at iteration", "evaluation", "end"),
)
_ENDS = ("[after training is done]", "exiting program at iteration")


class Megatron:
    """Reads one log; it remembers the line before."""

    def __init__(self) -> None:
        self._step = 0
        self._tokens: float | None = None
        self._seen_loss = False

    def read(self, line: str, time_unix_nano: int) -> list[Step | Span | Close]:
        """Return what a line tells, as of that time; most lines tell nothing."""
        text = ANSI.sub("", line)
        if match := _STEP.search(text):
            return [self._of_step(int(match["step"]), _fields(match["fields"]), time_unix_nano)]
        if match := _BAD.search(text):
            # The job ends here: the line of this iteration never comes.
            return [Step(int(match["step"]), time_unix_nano, loss=math.nan)]
        for piece, what, edge in _SPANS:
            if piece in text:
                return [Span(what, edge, time_unix_nano)]
        done = any(piece in text for piece in _ENDS)
        return [Close("completed", time_unix_nano)] if done else []

    def _of_step(self, step: int, fields: dict[str, float], time_unix_nano: int) -> Step:
        passed = max(1, step - self._step) if self._step else 1
        self._step = step
        milliseconds = fields.get("elapsed time per iteration (ms)")
        tflops = next((fields[key] for key in _TFLOPS if key in fields), None)
        return Step(
            step,
            time_unix_nano,
            skipped=int(fields.get("number of skipped iterations", 0)),
            loss=self._loss(fields),
            gradient_norm=fields.get("grad norm"),
            step_seconds=None if milliseconds is None else milliseconds / 1e3,
            tokens=self._tokens_per_step(fields.get("consumed tokens"), passed),
            samples=fields.get("global batch size"),
            loss_scale=fields.get("loss scale"),
            flops_per_second=None if tflops is None else tflops * TERA,
            energy_joules=fields.get("energy per GPU (J/iter/GPU)"),
        )

    def _loss(self, fields: dict[str, float]) -> Number | None:
        """Return the loss; NaN where it is missing without a reason.

        On NaN the line has no loss, and in forks the count of NaN iterations stays at 0. Where
        iterations were skipped (the loss scale adapts itself) it may be missing all the same, a
        fork may call it something else, and a line that was cut off says nothing.
        """
        if fields.get("number of nan iterations", 0) > 0:
            return math.nan
        if "lm loss" in fields:
            self._seen_loss = True
            return fields["lm loss"]
        others = [value for key, value in fields.items() if _LOSS.search(key)]
        if others and not self._seen_loss:
            return others[0]
        return math.nan if fields.get("number of skipped iterations") == 0 else None

    def _tokens_per_step(self, consumed: float | None, passed: int) -> float | None:
        before, self._tokens = self._tokens, consumed
        if consumed is None or before is None or consumed <= before:
            return None
        return (consumed - before) / passed


def _fields(text: str) -> dict[str, float]:
    """Return the fields `key: number`, parted by bars; what is no number is left out."""
    found: dict[str, float] = {}
    for field in text.split("|"):
        key, _, value = field.rpartition(":")
        try:
            found[key.strip()] = float(value)
        except ValueError:
            continue
    return found
