"""Any records, drawn by hypothesis: what a writer may put on the wire."""

from typing import Any, get_args

from hypothesis import strategies as st

from forewarn import entity
from forewarn.bus import TOPICS, Message
from forewarn.catalogue import CATALOGUE, Family, Movement
from forewarn.records import (
    SEVERITIES,
    DeadLetter,
    Event,
    Finding,
    Frame,
    InventoryItem,
    Layout,
    Mark,
    Placement,
    Reading,
    ValueClass,
)

METRICS = [signal.name for signal in CATALOGUE.values() if signal.is_metric]
words = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


def _is_code(text: str) -> bool:
    return all(part.strip() for part in text.lower().partition(":"))


times = st.integers(1, 2**63 - 1)
counts = st.integers(0, 2**63 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
entities = st.builds(entity.path, st.sampled_from(sorted(entity.KINDS)), names)
readings = st.builds(
    Reading, signal=st.sampled_from(METRICS), entity=entities, value=finite, time_unix_nano=times
)
placements = st.builds(
    Placement,
    job=names,
    rank=st.integers(0, 2**32 - 1),
    node=names,
    devices=st.lists(entities, max_size=3).map(tuple),
    stage=st.none() | st.integers(0, 99),
    tensor=st.none() | st.integers(0, 99),
    since_unix_nano=counts,
)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    signals = draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=4, unique=True))
    owners = draw(st.lists(entities, min_size=1, max_size=4, unique=True))
    size = draw(st.integers(0, 8))
    indices = [
        draw(st.lists(st.integers(0, len(of) - 1), min_size=size, max_size=size))
        for of in (signals, owners)
    ]
    return Layout(tuple(signals), tuple(owners), tuple(indices[0]), tuple(indices[1]))


RECORDS: dict[str, st.SearchStrategy[Any]] = {
    "layout": layouts(),
    "frame": st.builds(
        Frame,
        cluster=names,
        node=names,
        source=names,
        seq=counts,
        time_unix_nano=times,
        boot_id=words,
        layout=st.binary(min_size=1, max_size=20),
        values=st.binary(max_size=4).map(lambda data: data * 8),
        outcome=st.binary(max_size=4),
    ),
    "event": st.builds(
        Event,
        cluster=names,
        entity=entities,
        code=st.builds("{}:{}".format, names, names).filter(_is_code),
        time_unix_nano=times,
        severity=st.sampled_from(SEVERITIES),
        text=words,
        node=words,
        source=words,
        boot_id=words,
        seq=counts,
    ),
    "inventory": st.builds(
        InventoryItem,
        cluster=names,
        entity=entities,
        time_unix_nano=times,
        attributes=st.dictionaries(words, words, max_size=3),
        collects=st.dictionaries(
            words, st.lists(st.sampled_from(METRICS), max_size=3).map(tuple), max_size=3
        ),
        unsupported=st.lists(st.sampled_from(METRICS), max_size=3).map(tuple),
        placement=st.none() | placements,
        removed=st.booleans(),
    ),
    "finding": st.builds(
        Finding,
        id=names,
        cluster=names,
        entity=entities,
        signal=st.sampled_from(sorted(CATALOGUE)),
        family=st.sampled_from(get_args(Family)),
        movement=st.sampled_from(get_args(Movement)),
        value_class=st.sampled_from(get_args(ValueClass)),
        opened_at_unix_nano=times,
        updated_at_unix_nano=times,
        seq=st.integers(1, 2**32 - 1),
        code=words,
        closed_at_unix_nano=st.none() | times,
        observed=st.none() | finite,
        expected=st.none() | finite,
        low=st.none() | finite,
        high=st.none() | finite,
        unit=words,
        surprise=finite,
        effect=finite,
        severity=st.sampled_from(SEVERITIES),
        text=words,
        job=words,
        model_id=words,
        clock_uncertainty_seconds=finite,
        readings=st.lists(readings, max_size=3).map(tuple),
    ),
    "deadletter": st.builds(
        DeadLetter,
        reason=words,
        message=words,
        source=words,
        topic=words,
        partition=st.integers(0, 2**32 - 1),
        offset=counts,
        time_unix_nano=counts,
        payload=st.binary(max_size=20),
    ),
    "recorded": st.lists(
        st.builds(
            Message,
            topic=st.sampled_from(list(TOPICS)),
            key=words,
            value=st.binary(max_size=20),
            partition=st.integers(0, 2**32 - 1),
            offset=counts,
            append_time_unix_nano=counts,
            headers=st.lists(st.tuples(words, st.binary(max_size=4)), max_size=2).map(tuple),
        )
        | st.builds(Mark, cluster=words, time_unix_nano=counts, end=st.booleans(), messages=counts),
        max_size=3,
    ),
}
