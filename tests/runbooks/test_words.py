import pytest

from runbooks.words import asked, distance, latin, merged, movements, nearness, synonyms, tokens


def test_latin_is_cut_to_words_and_chinese_to_pairs() -> None:
    assert tokens("GPU_temp 过热了") == ["gpu", "temp", "过热", "热了"]
    assert tokens("卡") == ["卡"]
    assert latin("ＸＩＤ　７９") == ["xid", "79"]


def test_words_that_say_nothing_are_left_out() -> None:
    assert asked("why is the GPU hot") == ["gpu", "hot"]
    assert asked("怎么办") == []
    assert asked("GPU 过热怎么办") == ["gpu", "过热"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("nan", "nan", 1.0), ("throt", "throttling", 0.8), ("throttled", "throttling", 0.7),
        ("throtling", "throttling", 0.5), ("networj", "network", 0.7), ("79", "791", 0.0),
        ("cat", "dog", 0.0), ("卡", "掉卡", 0.5), ("掉卡", "掉线", 0.0), ("gpu", "过热", 0.0),
    ],
)  # fmt: skip
def test_nearness_of_words(one: str, other: str, expected: float) -> None:
    assert nearness(one, other) == expected


def test_distance_counts_letters_and_swaps() -> None:
    assert distance("abcd", "abdc", 2) == 1
    assert distance("abc", "abcd", 2) == 1
    assert distance("kitten", "sitting", 3) == 3
    assert distance("kitten", "sitting", 1) > 1


def test_matched_pairs_are_shown_as_they_stand_in_the_query() -> None:
    assert merged("训练吞吐突然下降", ["训练", "练吞", "吞吐", "下降"]) == ["训练吞吐", "下降"]
    assert merged("GPU 过热", ["gpu", "过热"]) == ["gpu", "过热"]


@pytest.mark.parametrize("word", ["high", "高", "过热", "HOT"])
def test_lookup_words_mean_movements_in_both_languages(word: str) -> None:
    assert movements(word) == ("up", "above", "step_up", "spike", "outlier")


def test_a_movement_means_itself_and_other_words_nothing() -> None:
    assert movements("step_up") == ("step_up",)
    assert movements("nan") == ("event",)
    assert movements("purple") == ()


def test_synonyms_of_both_languages() -> None:
    assert "挂死" in synonyms("任务卡死")
    assert "checkpoint" in synonyms("ckpt slow")
    assert synonyms("nothing here") == []
