"""VUS-PR: values that the reference implementation gives, and what must hold of any."""

import numpy as np
import pytest

from bench.vus import runs, vus_pr


def labelled(count: int, seed: int) -> tuple[np.ndarray, np.random.Generator]:
    random = np.random.default_rng(seed)
    label = np.zeros(count, np.int64)
    for _ in range(5):
        begin = int(random.integers(0, count - 60))
        label[begin : begin + int(random.integers(1, 60))] = 1
    return label, random


def test_value_is_that_of_the_reference():
    """TSB-AD 1.5, `generate_curve(label, score, 100, "opt", 250)`, on the same random numbers."""
    label, random = labelled(2000, 0)
    assert vus_pr(label, random.normal(size=2000) + 2 * label) == pytest.approx(REFERENCE[0])
    rounded = np.round(random.normal(size=2000) + label, 1)
    assert vus_pr(label, rounded) == pytest.approx(REFERENCE[1])


REFERENCE = (0.5481983712328656, 0.2578497899000892)


def test_perfect_score_is_near_one_and_chance_near_the_share_of_labels():
    label, random = labelled(5000, 3)
    assert vus_pr(label, label + 1e-3 * random.random(5000)) > 0.85
    assert vus_pr(label, random.random(5000)) < 3 * label.mean() + 0.1


def test_runs_have_both_ends():
    assert runs(np.array([1, 1, 0, 0, 1, 0, 1])).tolist() == [[0, 1], [4, 4], [6, 6]]


def test_nothing_labelled_is_said():
    with pytest.raises(ValueError, match="nothing is labelled"):
        vus_pr(np.zeros(100, np.int64), np.arange(100.0))
