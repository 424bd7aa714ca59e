"""Entities: names survive encoding, kinds and parents are read from the path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forewarn import entity
from forewarn.errors import EntityError

GPU = "node/n7/gpu/0000:1a:00.0"
PLAIN_KINDS = sorted(entity.KINDS)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=10))
def test_name_and_plain_are_inverse(text: str) -> None:
    assert entity.plain(entity.name(text)) == text


@given(st.text(), st.sampled_from(PLAIN_KINDS))
def test_any_text_makes_a_well_formed_entity(text: str, kind: str) -> None:
    assert entity.kind(entity.path(kind, text)) == kind


@given(st.text(min_size=40))
def test_long_name_is_cut_to_a_well_formed_one(text: str) -> None:
    encoded = entity.name(text)
    assert len(encoded) <= 128
    entity.check(f"node/{encoded}")


def test_long_names_that_begin_alike_stay_apart() -> None:
    pod = "/var/lib/kubelet/pods/0f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f/volumes/kubernetes.io~csi/"
    mounts = [f"{pod}pvc-11111111-2222-3333-4444-55555555{n}/mount" for n in range(1000, 1100)]
    jobs = [f"大模型预训练任务·第二阶段·实验{n}" for n in range(100)]
    for names in (mounts, jobs):
        assert len({entity.name(own) for own in names}) == len(names)


@given(st.lists(st.tuples(st.sampled_from(PLAIN_KINDS), st.text()), min_size=1, max_size=4))
def test_path_is_taken_apart_again(pairs: list[tuple[str, str]]) -> None:
    path = entity.path(*(part for pair in pairs for part in pair))
    above = entity.ancestors(path)
    assert len(above) == len(pairs) - 1
    assert entity.parent(path) == (above[0] if above else None)
    assert entity.root(path) == (above[-1] if above else path)
    assert all(entity.inside(path, outer) for outer in (path, *above))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (GPU, "gpu"),
        ("node/n7/nic/mlx5_0/port/1", "nic_port"),
        ("switch/leaf3/port/12", "switch_port"),
        ("serving/chat/replica/3", "serving_replica"),
        ("job/4711/rank/17", "rank"),
        ("rack/r12", "rack"),
    ],
)
def test_kind_is_the_catalogues(path: str, kind: str) -> None:
    assert entity.kind(entity.check(path)) == kind


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "expected kind/name pairs"),
        ("node", "expected kind/name pairs"),
        ("node/n7/", "expected kind/name pairs"),
        ("toaster/t1", "unknown kind 'toaster'"),
        ("node/n 7", "'n 7' is no name; percent-encode it"),
        ("node//gpu/1", "'' is no name"),
        ("node/" + "n" * 129, "is no name"),
        ("node/100%", "'100%' is no name"),
        ("node/n7\n", "is no name"),
        ("node/节点", "is no name"),
    ],
)
def test_malformed_entity_is_refused_naming_the_part(path: str, message: str) -> None:
    with pytest.raises(EntityError, match=message):
        entity.check(path)


@pytest.mark.parametrize("parts", [(), ("node",), ("node", "n7", "gpu")])
def test_path_of_half_a_pair_is_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(EntityError, match="pairs of kind and name"):
        entity.path(*parts)


def test_mount_in_bytes_that_are_no_utf8_has_a_name() -> None:
    mount = b"/data/\xff".decode("utf-8", "surrogateescape")
    assert entity.path("node", "n7", "mount", mount) == "node/n7/mount/%2Fdata%2F%5Cudcff"


def test_path_encodes_names() -> None:
    assert entity.path("node", "n7", "mount", "/var/lib") == "node/n7/mount/%2Fvar%2Flib"
    assert entity.last_name("node/n7/mount/%2Fvar%2Flib") == "/var/lib"


def test_inside_compares_whole_names() -> None:
    assert entity.inside(GPU, "node/n7")
    assert not entity.inside("node/n70/gpu/1", "node/n7")
