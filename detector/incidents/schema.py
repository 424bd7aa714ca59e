"""The tables of decide's database, as an ordered list of migrations.

Entry n brings a database from version n (`PRAGMA user_version`) to n + 1. A released entry is
never edited; a change is a new entry at the end.
"""

_INCIDENTS = """
CREATE TABLE incidents (
    id TEXT PRIMARY KEY,
    cluster TEXT NOT NULL,
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    severity TEXT NOT NULL,
    entity TEXT NOT NULL,
    first_evidence_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (cluster, key, generation)
) STRICT;
CREATE INDEX incidents_by_state ON incidents (state, updated_at);
CREATE TABLE timeline (
    incident TEXT NOT NULL REFERENCES incidents (id),
    position INTEGER NOT NULL,
    time INTEGER NOT NULL,
    what TEXT NOT NULL,
    text TEXT NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (incident, position)
) STRICT;
CREATE TABLE findings (
    cluster TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    incident TEXT NOT NULL REFERENCES incidents (id),
    PRIMARY KEY (cluster, id)
) STRICT;
CREATE INDEX findings_by_incident ON findings (incident);
CREATE TABLE offsets (
    topic TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    next INTEGER NOT NULL,
    PRIMARY KEY (topic, "partition")
) STRICT;
"""

_FEEDBACK = """
CREATE TABLE feedback (
    incident TEXT NOT NULL REFERENCES incidents (id),
    entry TEXT NOT NULL,
    rev INTEGER NOT NULL,
    hardware TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('confirmed', 'refuted')),
    proof TEXT,
    by TEXT NOT NULL,
    time INTEGER NOT NULL,
    note TEXT NOT NULL,
    CHECK (verdict = 'refuted' OR proof IS NOT NULL)
) STRICT;
CREATE TABLE counts (
    entry TEXT NOT NULL,
    rev INTEGER NOT NULL,
    hardware TEXT NOT NULL,
    matched INTEGER NOT NULL DEFAULT 0,
    confirmed INTEGER NOT NULL DEFAULT 0,
    refuted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (entry, rev, hardware)
) STRICT;
CREATE TABLE rankings (
    incident TEXT NOT NULL REFERENCES incidents (id),
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,
    entry TEXT NOT NULL,
    rev INTEGER NOT NULL,
    entity TEXT NOT NULL,
    score REAL NOT NULL,
    share REAL NOT NULL,
    confirmed INTEGER NOT NULL,
    refuted INTEGER NOT NULL,
    PRIMARY KEY (incident, seq, place)
) STRICT;
"""

_OUTBOX = """
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    incident TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('open', 'update', 'resolve', 'alert')),
    body BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    next_try_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'delivered', 'collapsed', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    last_outcome TEXT NOT NULL DEFAULT '',
    done_at INTEGER,
    UNIQUE (channel, webhook_id)
) STRICT;
CREATE INDEX outbox_pending ON outbox (channel, incident, id) WHERE state = 'pending';
CREATE TABLE channels (
    name TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    disabled_at INTEGER,
    reason TEXT NOT NULL DEFAULT ''
) STRICT;
"""

_STANDING = """
CREATE TABLE standing (
    channel TEXT NOT NULL,
    incident TEXT NOT NULL,
    labels TEXT NOT NULL,
    alert BLOB NOT NULL,
    since INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (channel, incident, labels)
) STRICT;
"""

# Findings that are counted in an incident but not shown, and those that wait for one.
_COUNTED = """
ALTER TABLE findings ADD COLUMN is_open INTEGER NOT NULL DEFAULT 0;
ALTER TABLE findings ADD COLUMN heard_at INTEGER NOT NULL DEFAULT 0;
CREATE TABLE waiting (
    cluster TEXT NOT NULL,
    id TEXT NOT NULL,
    until INTEGER NOT NULL,
    finding BLOB NOT NULL,
    PRIMARY KEY (cluster, id)
) STRICT;
"""

# Learned findings that would open an incident, at what price, and which incident they opened.
_CHARGES = """
CREATE TABLE charges (
    finding TEXT PRIMARY KEY,
    time INTEGER NOT NULL,
    cluster TEXT NOT NULL,
    place TEXT NOT NULL,
    signal TEXT NOT NULL,
    family TEXT NOT NULL,
    per_day REAL,
    incident TEXT NOT NULL
) STRICT;
CREATE INDEX charges_by_time ON charges (time);
"""

MIGRATIONS: tuple[str, ...] = (_INCIDENTS, _FEEDBACK, _OUTBOX, _STANDING, _COUNTED, _CHARGES)
