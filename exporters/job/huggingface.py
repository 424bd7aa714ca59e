"""Lines of the Hugging Face Trainer: printed dicts that are no JSON, between progress bars.

Source of the shapes: src/transformers/trainer_callback.py (PrinterCallback, ProgressCallback).
The dict has no step: the bar beside it says how far the training is and how long a step takes.
"""

import re

from exporters.job.lines import Close, Span, Step
from exporters.job.megatron import ANSI

_DICT = re.compile(r"\{\s*['\"]\w.*\}")
# A number may be bare (nan and inf too) or, in newer versions, text.
_PAIR = re.compile(r"['\"](?P<key>\w+)['\"]:\s*['\"]?(?P<value>[^,'\"}\s]+)")
_BAR = re.compile(r"\|\s*(?P<done>\d+)/(?P<total>\d+) \[(?P<times>[^\]]*)")
_RATE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>it/s|s/it)")
_CHECKPOINT = "Saving model checkpoint to"
_EVALUATION = "***** Running Evaluation *****"


class HuggingFace:
    """Reads one log; it remembers the latest bar.

    The largest bar is the training's, smaller ones are of evaluations. Without a bar (it is
    switched off, or goes elsewhere) lines are counted instead of steps, and no time is known.
    """

    def __init__(self) -> None:
        self._total = 0
        self._done: int | None = None
        self._step_seconds: float | None = None
        self._lines = 0

    def read(self, line: str, time_unix_nano: int) -> list[Step | Span | Close]:
        """Return what a line tells, as of that time; most lines tell nothing."""
        text = ANSI.sub("", line)
        bars = [self._bar(bar) for bar in _BAR.finditer(text)]
        found: list[Step | Span | Close] = []
        if match := _DICT.search(text):
            found += self._dict(_numbers(match[0]), time_unix_nano)
        if _CHECKPOINT in text:
            found.append(Span("checkpoint", "begin", time_unix_nano))
        if any(bars) or _EVALUATION in text:
            found.append(Span("evaluation", "begin", time_unix_nano))
        return found

    def _bar(self, match: re.Match[str]) -> bool:
        """Take a bar; say whether it is one of an evaluation that goes on."""
        done, total = int(match["done"]), int(match["total"])
        if total < self._total:
            return done < total
        self._total, self._done = total, done
        rate = _RATE.search(match["times"])
        if rate and (number := float(rate["number"])) > 0:
            self._step_seconds = number if rate["unit"] == "s/it" else 1 / number
        return False

    def _dict(self, numbers: dict[str, float], time_unix_nano: int) -> list[Step | Span | Close]:
        if "train_runtime" in numbers:
            return [Close("completed", time_unix_nano)]
        if any(key.startswith("eval_") for key in numbers):
            return [Span("evaluation", "end", time_unix_nano)]
        if "loss" not in numbers:
            return []
        self._lines += 1
        return [
            Step(
                self._step(numbers),
                time_unix_nano,
                loss=numbers["loss"],
                gradient_norm=numbers.get("grad_norm"),
                step_seconds=self._step_seconds,
            )
        ]

    def _step(self, numbers: dict[str, float]) -> int:
        for key in ("step", "global_step"):
            if key in numbers:
                return int(numbers[key])
        return self._lines if self._done is None else self._done


def _numbers(text: str) -> dict[str, float]:
    """Return the pairs of a printed dict whose value is a number."""
    found: dict[str, float] = {}
    for match in _PAIR.finditer(text):
        try:
            found[match["key"]] = float(match["value"])
        except ValueError:
            continue
    return found
