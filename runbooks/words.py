"""Words in both languages: how a text is cut, how near two words are, what a word means."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from forewarn.catalogue import MOVEMENTS, Movement

# Lookup words after `signal=`: one table for both languages, as the page of the catalogue has it.
_GROUPS: tuple[tuple[str, tuple[Movement, ...]], ...] = (
    ("high hot 高 偏高 过高 过热", ("up", "above", "step_up", "spike", "outlier")),
    ("low cold 低 偏低 不足", ("down", "below", "step_down", "zero", "outlier")),
    ("rising increasing 上升 增长 增多 升高", ("up", "grows", "step_up")),
    ("falling decreasing 下降 减少 降低", ("down", "step_down")),
    ("jump 突增 跳变 激增", ("step_up", "spike")),
    ("drop 骤降 突降", ("step_down", "down")),
    ("spike 尖峰 毛刺 波动", ("spike",)),
    ("missing gone silent 缺失 丢失 无数据 掉线", ("absent", "zero", "mismatch")),
    ("zero 为零 归零", ("zero",)),
    ("stuck frozen hang 卡住 不变 挂死 停滞", ("stuck", "up")),
    ("flapping 闪断 抖动", ("flap",)),
    ("error errors failed 报错 错误 故障 失败", ("event", "grows", "nonzero")),
    ("wrong different changed 不一致 不符 变更", ("mismatch", "event")),
    ("slow straggler odd 慢 离群 异常", ("outlier", "up", "down")),
    ("set pending 置位 待处理", ("nonzero",)),
    ("over exceeded 超限 超标", ("above",)),
    ("full 写满 耗尽", ("above", "zero")),
    ("common 全部 普遍", ("all",)),
    ("nan inf", ("event",)),
    ("> >=", ("above", "up", "step_up", "grows")),
    ("< <=", ("below", "down", "step_down", "zero")),
)
MOVEMENT_WORDS: Mapping[str, tuple[Movement, ...]] = {
    word: meant for words, meant in _GROUPS for word in words.split()
}
# What people type for what entries say; the second word is searched as well, at a discount.
SYNONYMS: tuple[tuple[str, str], ...] = (
    ("oom", "out of memory 内存耗尽"), ("爆显存", "显存不足"), ("内存溢出", "内存耗尽"),
    ("爆内存", "内存耗尽"), ("temp", "temperature"), ("overheat", "thermal hot"),
    ("overheating", "thermal hot"), ("hot", "thermal temperature"), ("slow", "straggler drops"),
    ("slowdown", "drops straggler"), ("freeze", "hang"), ("frozen", "hang"), ("stuck", "hang"),
    ("hung", "hang"), ("crash", "panic failed"), ("ckpt", "checkpoint"), ("bw", "bandwidth"),
    ("ib", "infiniband rdma"), ("net", "network"), ("mem", "memory"), ("util", "utilisation"),
    ("infinity", "nan"), ("diverge", "nan loss"), ("reboot", "restart"), ("queue", "pending"),
    ("卡死", "挂死"), ("卡住", "挂死"), ("假死", "挂死"), ("变慢", "下降 慢"),
    ("掉线", "丢失 失联"),
    ("断网", "端口 down 闪断"), ("高温", "过热"), ("温度高", "过热"), ("发散", "NaN"),
    ("漏水", "漏液"), ("停电", "电压 供电"), ("断电", "供电"), ("重启", "中断 重启"),
    ("训练慢", "吞吐下降"), ("丢包", "丢包 乱序"), ("网络慢", "拥塞"), ("存储慢", "存储饱和"),
    ("掉卡", "掉卡 丢失"), ("死机", "失联 崩溃"), ("磁盘满", "写满"), ("盘满", "写满"),
)  # fmt: skip
_STOP = frozenset(
    "a an the of is are to and in on at my our why how what when do does i it with for be by has"
    " have was were this that from not"
    " 的 了 吗 呢 在 是 我 我们 怎么 怎么办 为什么 什么 如何".split()
)
_LATIN = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")


def plain(text: str) -> str:
    """Return the text in one form: full-width signs narrow, lower case, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def tokens(text: str) -> list[str]:
    """Cut a text: Latin words and numbers whole, Chinese into pairs of signs (one sign alone)."""
    return [*latin(text), *(gram for run in _HAN.findall(plain(text)) for gram in grams(run))]


def latin(text: str) -> list[str]:
    """Return the Latin words and numbers of a text."""
    return _LATIN.findall(plain(text))


def grams(run: str) -> list[str]:
    """Return the overlapping pairs of a run of Chinese signs."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def asked(text: str) -> list[str]:
    """Return the tokens of a query without the words that say nothing."""
    own = plain(text)
    for word in sorted(_STOP - set(_LATIN.findall(own)), key=len, reverse=True):
        if not word.isascii():
            own = own.replace(word, " ")
    return [t for t in dict.fromkeys(tokens(own)) if t not in _STOP]


def synonyms(text: str) -> list[str]:
    """Return further tokens for what stands in `text`."""
    own = plain(text)
    words = set(latin(own))
    found = (more for word, more in SYNONYMS if (word in words if word.isascii() else word in own))
    return list(dict.fromkeys(token for more in found for token in tokens(more)))


def nearness(asked_word: str, word: str) -> float:
    """Return how well a word of an entry answers a word asked for: 1 the same, 0 not at all."""
    if asked_word == word:
        return 1.0
    if not (asked_word.isascii() and word.isascii()):
        return 0.5 if len(asked_word) == 1 and asked_word in word else 0.0
    if asked_word.isdigit() or word.isdigit() or min(len(asked_word), len(word)) < 3:
        return 0.0
    if word.startswith(asked_word):
        return 0.8
    if _same_stem(asked_word, word):
        return 0.7
    return _spelled_alike(asked_word, word)


def _same_stem(one: str, other: str) -> bool:
    """Say whether two words differ in their endings only (throttled, throttling)."""
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    length = min(len(one), len(other)) if shared is None else shared
    return length >= 4 and max(len(one), len(other)) - length <= 3


def _spelled_alike(one: str, other: str) -> float:
    longest = max(len(one), len(other))
    allowed = 0 if longest < 4 else 1 if longest < 8 else 2
    if not allowed or abs(len(one) - len(other)) > allowed:
        return 0.0
    return 0.5 if distance(one, other, allowed) <= allowed else 0.0


def distance(one: str, other: str, limit: int) -> int:
    """Return how many letters differ (insert, drop, change, swap); more than `limit` is not told
    apart."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def merged(query: str, matched: Iterable[str]) -> list[str]:
    """Return the matched tokens as they stand in the query: Chinese pairs joined to runs."""
    own = set(matched)
    words = [word for word in dict.fromkeys(latin(query)) if word in own]
    return [*words, *dict.fromkeys(_runs(plain(query), own))]


def _runs(query: str, matched: set[str]) -> Iterator[str]:
    for run in _HAN.findall(query):
        start, end = 0, 0
        for i, gram in enumerate(grams(run)):
            if gram not in matched:
                continue
            if i >= end and end:
                yield run[start:end]
            start = i if i >= end else start
            end = i + len(gram)
        if end:
            yield run[start:end]


def movements(word: str) -> tuple[Movement, ...]:
    """Return the movements that a lookup word means; the name of a movement means itself."""
    own = plain(word)
    if own in MOVEMENT_WORDS:
        return MOVEMENT_WORDS[own]
    return tuple(m for m in MOVEMENTS if m == own)
