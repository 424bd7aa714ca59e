import math

import pytest

from exporters.job.lines import Close, Span, Step
from exporters.job.megatron import Megatron

AT = 5
# As Megatron-LM core 0.12 prints it on the last rank.
LINE = (
    " [2026-03-01 10:11:12.123456] iteration     {step}/  500000 | consumed samples: {samples} |"
    " elapsed time per iteration (ms): 1523.4 | throughput per GPU (TFLOP/s/GPU): 412.5 |"
    " energy per GPU (J/iter/GPU): 900.0 | power per GPU (W/GPU): 590.8 |"
    " learning rate: 3.000000E-04 | global batch size:   512 |{loss} loss scale: 1.0 |"
    " grad norm: 0.731 | number of skipped iterations: {skipped} |"
    " number of nan iterations: {nan} |"
)
LOSS = " lm loss: 2.345678E+00 |"


def line(step: int = 100, loss: str = LOSS, skipped: int = 0, nan: int = 0) -> str:
    return LINE.format(step=step, samples=step * 512, loss=loss, skipped=skipped, nan=nan)


def one(text: str, own: Megatron | None = None) -> Step:
    (step,) = (own or Megatron()).read(text, AT)
    assert isinstance(step, Step)
    return step


def test_a_line_becomes_a_step_in_base_units() -> None:
    step = one(line())
    assert (step.step, step.time_unix_nano, step.skipped) == (100, AT, 0)
    assert step.loss == pytest.approx(2.345678)
    assert step.step_seconds == pytest.approx(1.5234)
    assert step.flops_per_second == pytest.approx(412.5e12)
    assert (step.samples, step.energy_joules, step.gradient_norm) == (512, 900, 0.731)
    assert step.tokens is None


def test_a_loss_that_is_missing_without_a_reason_is_nan() -> None:
    """Forks leave the count of NaN iterations at 0."""
    assert math.isnan(float(one(line(loss="")).loss or 0))


def test_a_loss_that_is_missing_because_iterations_were_skipped_is_not_nan() -> None:
    step = one(line(loss="", skipped=3))
    assert step.loss is None
    assert step.skipped == 3


def test_a_line_that_was_cut_off_is_no_nan() -> None:
    text = line()
    for end in range(text.index("consumed"), text.index("number of skipped")):
        loss = one(text[:end]).loss
        assert loss is None or not math.isnan(float(loss))


@pytest.mark.parametrize("text", [line(nan=1), line(loss="", nan=2), line(loss=" lm loss: NAN |")])
def test_nan_is_nan_however_it_is_told(text: str) -> None:
    assert math.isnan(float(one(text).loss or 0))


def test_infinite_gradients_are_kept() -> None:
    assert one(line().replace("grad norm: 0.731", "grad norm: inf")).gradient_norm == math.inf


def test_a_fork_that_names_its_loss_otherwise_is_understood() -> None:
    assert one(line(loss=" loss: 1.5E+00 |")).loss == 1.5


def test_other_losses_do_not_hide_that_the_main_one_is_missing() -> None:
    own = Megatron()
    one(line(1), own)
    assert math.isnan(float(one(line(2, " load_balancing_loss: 1.0E-02 |"), own).loss or 0))


def test_tokens_of_forks_are_per_step() -> None:
    own = Megatron()
    texts = [
        line(n).replace("| elapsed", f"| consumed tokens: {n * 1000} | elapsed") for n in (10, 20)
    ]
    assert one(texts[0], own).tokens is None
    assert one(texts[1], own).tokens == 1000


def test_colours_and_prefixes_of_launchers_are_no_hindrance() -> None:
    assert one("\x1b[32m[default7]:" + line() + "\x1b[0m").step == 100


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("saving checkpoint at iteration    1000 to /ckpt in torch_dist format",
         Span("checkpoint", "begin", AT)),
        ("  successfully saved checkpoint from iteration    1000 to /ckpt [ t 1/8, p 1/4 ]",
         Span("checkpoint", "end", AT)),
        ("Evaluating on 5120 samples", Span("evaluation", "begin", AT)),
        (" validation loss at iteration 1000 | lm loss value: 2.3E+00 | lm loss PPL: 1.0E+01 |",
         Span("evaluation", "end", AT)),
        ("[after training is done] datetime: 2026-03-01 10:11:12", Close("completed", AT)),
        ("[exiting program at iteration 1000] datetime: 2026-03-01 10:11:12",
         Close("completed", AT)),
    ],
)  # fmt: skip
def test_phases_of_the_job_are_recognised(text: str, wanted: Span | Close) -> None:
    assert Megatron().read(text, AT) == [wanted]


def test_what_the_rerun_machine_raises_is_a_step_of_nan() -> None:
    step = one("ValueError: Unexpected result nan on rank 12 at iteration #1234! (message=...)")
    assert step.step == 1234
    assert math.isnan(float(step.loss or 0))


@pytest.mark.parametrize(
    "text",
    ["", "building GPT model ...", "iteration x/y |", "    learning_rate ........ 0.0003",
     "(min, max) time across ranks (ms):"],
)  # fmt: skip
def test_other_lines_tell_nothing(text: str) -> None:
    assert Megatron().read(text, AT) == []
