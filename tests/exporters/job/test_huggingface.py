import math

import pytest

from exporters.job.huggingface import HuggingFace
from exporters.job.lines import Close, Span, Step

AT = 5
DICT = "{'loss': 2.3456, 'grad_norm': 1.25, 'learning_rate': 4.9e-05, 'epoch': 0.02}"
BAR = "  2%|▏         | 10/500 [00:20<16:20,  2.00s/it]"


def one(*lines: str) -> Step:
    own = HuggingFace()
    found = [told for line in lines for told in own.read(line, AT)]
    assert isinstance(found[-1], Step)
    return found[-1]


def test_a_dict_beside_a_bar_becomes_a_step() -> None:
    step = one(BAR, DICT)
    assert (step.step, step.loss, step.gradient_norm) == (10, 2.3456, 1.25)
    assert step.step_seconds == 2.0


def test_a_fast_bar_tells_steps_a_second() -> None:
    assert one("| 100/500 [00:20<01:20,  4.00it/s]", DICT).step_seconds == 0.25


@pytest.mark.parametrize("bar", ["  0%|  | 0/500 [00:00<?, ?it/s]", "| 1/500 [00:01<?, ?it/s]"])
def test_a_bar_that_does_not_know_yet_gives_no_time(bar: str) -> None:
    assert one(bar, DICT).step_seconds is None


def test_without_a_bar_lines_are_counted_and_no_time_is_known() -> None:
    step = one(DICT, DICT, DICT)
    assert (step.step, step.step_seconds) == (3, None)


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("{'loss': nan, 'grad_norm': nan, 'epoch': 0.1}", math.nan),
        ("{'loss': 'nan', 'epoch': '0.1'}", math.nan),
        ("{'loss': inf}", math.inf),
        ("{'loss': '2.5', 'grad_norm': '1.0'}", 2.5),
        ('{"loss": 2.5, "epoch": 1.0}', 2.5),
        ("\x1b[36m(train pid=3)\x1b[0m {'loss': 2.5, 'note': 'a, b'}", 2.5),
        (BAR + "{'loss': 2.5}", 2.5),
    ],
)
def test_values_that_no_json_reader_takes_are_read(text: str, loss: float) -> None:
    found = float(one(text).loss or 0)
    assert found == loss or (math.isnan(found) and math.isnan(loss))


def test_evaluation_and_end_are_recognised() -> None:
    own = HuggingFace()
    own.read(BAR, AT)
    assert own.read("  4%|▍  | 2/50 [00:01<00:20,  2.3it/s]", AT) == [
        Span("evaluation", "begin", AT)
    ]
    assert own.read("{'eval_loss': 2.1, 'eval_runtime': 20.0}", AT) == [
        Span("evaluation", "end", AT)
    ]
    assert own.read("100%|██| 50/50 [00:20<00:00,  2.3it/s]", AT) == []
    assert own.read("{'train_runtime': 99.0, 'train_loss': 2.2, 'epoch': 3.0}", AT) == [
        Close("completed", AT)
    ]


def test_a_checkpoint_is_recognised() -> None:
    line = "Saving model checkpoint to /out/checkpoint-500"
    assert HuggingFace().read(line, AT) == [Span("checkpoint", "begin", AT)]


@pytest.mark.parametrize("text", ["", "{}", "{'epoch': 1.0}", "{'loss': 'much'}", "{'los", "loss"])
def test_other_lines_tell_nothing(text: str) -> None:
    assert HuggingFace().read(text, AT) == []
