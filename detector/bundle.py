"""A trained model on disk: a folder of plain arrays and a card that people can read.

`card.json` says what it is, from when, how it did on days it had not seen, and the hash of
`arrays.npz`. Nothing in it is code: arrays are read with pickles forbidden.
"""

import hashlib
import io
import os
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from forewarn.errors import ForewarnError

FORMAT, VERSION = "forewarn-model", 1
CARD, ARRAYS = "card.json", "arrays.npz"
MOST_BYTES = 4 << 30  # of the arrays, unpacked: 10,000 GPUs need a fiftieth of it
Refusal = Literal["missing", "damaged", "foreign", "newer", "other_features"]
REFUSALS: tuple[Refusal, ...] = get_args(Refusal)
Words = NDArray[np.str_]
Numbers = NDArray[np.floating[Any]]


class BundleError(ForewarnError):
    """A model cannot be used; `reason` is one of REFUSALS, so that it can label a metric."""

    def __init__(self, reason: Refusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """How one signal did on the days that were kept back."""

    samples: int
    rare_ratio: float
    """Share with p < 0.01; it should be 0.01."""


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """How the learned thresholds did on the last days, each judged before it was learned from."""

    from_unix_seconds: float
    days: float
    findings: int
    """Findings of learned families that opened."""
    findings_per_day: float
    signals: dict[str, Checked] = {}


class Season(msgspec.Struct, frozen=True, kw_only=True):
    """What the test of one signal for hours of the day said."""

    explained_ratio: float
    """Share of the variation between hours, on the days kept back, that the other days foretell."""
    amplitude: float
    used: bool


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is."""

    format: str = FORMAT
    version: int = VERSION
    model_id: str
    made_by: str
    """Version of Forewarn."""
    sources: tuple[str, ...]
    from_unix_seconds: float
    until_unix_seconds: float
    rows: int
    series: int
    entities: int
    context_features: tuple[str, ...]
    validation: Validation
    seasons: dict[str, Season] = {}
    left_out: tuple[str, ...] = ()
    """Series that disagreed with all others of their hardware model, and are not learned from."""
    arrays_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Arrays:
    """What was learned; the first axis of a group goes by its names."""

    context_pools: Words
    """`signal hardware-model`."""
    context_pool_sums: Numbers
    """[pool, width]: normal equations within devices, as `Ridge` keeps them."""
    context_signals: Words
    context_entities: Words
    context_equations: Numbers
    """[series, width]"""
    context_minutes: Numbers
    band_signals: Words
    band_entities: Words
    band_centre: Numbers
    band_spread: Numbers
    band_minutes: Numbers
    spread_signals: Words
    spread_median: Numbers
    """By signal, over its series."""
    tail_signals: Words
    tail_counts: Numbers
    """[signal, bin]"""
    season_signals: Words
    season_hours: Numbers
    """[signal, 24]: what to add at each hour of UTC, in the signal's unit."""


@dataclass(frozen=True, slots=True)
class Model:
    """A card with its arrays."""

    card: Card
    arrays: Arrays


def save(folder: Path, model: Model) -> Card:
    """Write a model; its card last, and each file at once, so that a reader never sees half.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held, arrays = io.BytesIO(), {own.name: getattr(model.arrays, own.name) for own in _FIELDS}
    np.savez_compressed(held, allow_pickle=False, **arrays)
    digest = hashlib.sha256(held.getvalue()).hexdigest()
    card = msgspec.structs.replace(model.card, arrays_sha256=digest, model_id=f"m{digest[:12]}")
    _write(folder / ARRAYS, held.getvalue())
    _write(folder / CARD, msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
    return card


def load(folder: Path, features: tuple[str, ...] | None = None) -> Model:
    """Read a model and check all of it; `features` are those of the family context that reads it.

    Raises:
        BundleError: naming the file and what is wrong with it.

    """
    card = load_card(folder)
    packed = _read(folder / ARRAYS)
    if hashlib.sha256(packed).hexdigest() != card.arrays_sha256:
        raise BundleError("damaged", f"{folder / ARRAYS}: is not what its card was written for")
    if features is not None and card.context_features != features:
        text = f"{folder / CARD}: was trained on other features: {', '.join(card.context_features)}"
        raise BundleError("other_features", text)
    try:
        return Model(card, _unpack(packed))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise BundleError("damaged", f"{folder / ARRAYS}: {error}") from error


def load_card(folder: Path) -> Card:
    """Read only the card. Raises BundleError."""
    path = folder / CARD
    text = _read(path)
    try:
        head = msgspec.json.decode(text, type=_Head)
    except msgspec.DecodeError as error:
        raise BundleError("foreign", f"{path}: is no card of a model: {error}") from error
    if head.format != FORMAT:
        raise BundleError("foreign", f"{path}: is {head.format or 'something else'}, no model")
    if head.version > VERSION:
        told = f"{path}: is of version {head.version}; this Forewarn reads up to {VERSION}"
        raise BundleError("newer", told)
    try:
        return msgspec.json.decode(text, type=Card)
    except msgspec.DecodeError as error:
        raise BundleError("damaged", f"{path}: {error}") from error


class _Head(msgspec.Struct):
    format: str = ""
    version: int = 0


_FIELDS = fields(Arrays)


def _unpack(packed: bytes) -> Arrays:
    with zipfile.ZipFile(io.BytesIO(packed)) as held:
        if sum(item.file_size for item in held.infolist()) > MOST_BYTES:
            raise ValueError(f"unpacks to more than {MOST_BYTES} bytes")
    with np.load(io.BytesIO(packed), allow_pickle=False) as held:
        arrays = Arrays(**{own.name: held[own.name] for own in _FIELDS})
    _check(arrays)
    return arrays


def _check(arrays: Arrays) -> None:
    """Raise ValueError on arrays that do not belong together or hold no numbers."""
    for own in _FIELDS:
        array = getattr(arrays, own.name)
        if array.dtype.kind not in "Uf":
            raise ValueError(f"{own.name} holds {array.dtype}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{own.name} holds what is not finite")
    for names in GROUPS:
        lengths = {len(getattr(arrays, name)) for name in names}
        if len(lengths) > 1:
            raise ValueError(f"{', '.join(names)} differ in length")


GROUPS = (
    ("context_pools", "context_pool_sums"),
    ("context_signals", "context_entities", "context_equations", "context_minutes"),
    ("band_signals", "band_entities", "band_centre", "band_spread", "band_minutes"),
    ("spread_signals", "spread_median"),
    ("tail_signals", "tail_counts"),
    ("season_signals", "season_hours"),
)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason: Refusal = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        raise BundleError(reason, f"{path}: {error.strerror}") from error


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)
