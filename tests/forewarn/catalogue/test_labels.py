from forewarn.catalogue.labels import LABELS, labels
from forewarn.entity import KINDS


def test_each_kind_of_the_path_is_a_label() -> None:
    assert labels("node/n7/nic/mlx5_0/port/1") == {"node": "n7", "nic": "mlx5_0", "port": "1"}


def test_names_are_decoded() -> None:
    assert labels("node/n7/mount/%2Fmy%20data") == {"node": "n7", "mountpoint": "/my data"}


def test_the_table_names_kinds_only_and_no_label_twice() -> None:
    assert set(LABELS) <= KINDS
    all_labels = [LABELS.get(kind, kind) for kind in KINDS]
    assert len(all_labels) == len(set(all_labels))
