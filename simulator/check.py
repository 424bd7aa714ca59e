"""Refuses scenarios that contradict themselves; names the key that is wrong."""

import difflib
import math
from collections.abc import Iterator

from forewarn.errors import ConfigError
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.places import Places, places
from simulator.scenario import Fault, Fleet, Job, LiquidCooling, Maintenance, Scenario


def check(scenario: Scenario, where: str) -> None:
    """Check what types cannot say.

    Raises:
        ConfigError: listing every contradiction with its key, each on a line of its own.

    """
    problems = list(_models(scenario.fleet))
    if not problems:
        problems = [*_jobs(scenario), *_maintenance(scenario)]
    if problems:  # a fault can only be placed among jobs that can be
        raise ConfigError("\n".join(f"{where}: {problem}" for problem in problems))
    where_is = places(Machines(scenario.fleet), scenario.job)
    for number, fault in enumerate(scenario.fault):
        problems += [f"fault[{number}].{text}" for text in _fault(fault, scenario, where_is)]
    if problems:
        raise ConfigError("\n".join(f"{where}: {problem}" for problem in problems))


def _models(fleet: Fleet) -> Iterator[str]:
    told = sum(own.nodes for own in fleet.models)
    if fleet.models and told != fleet.nodes:
        yield f"fleet.models: {told} nodes in all, but fleet.nodes is {fleet.nodes}"


def _near(word: str, words: list[str]) -> str:
    """Return what may be meant: the words most like it, else all of them."""
    if close := difflib.get_close_matches(word, words, n=3, cutoff=0.6):
        return f"; did you mean {' or '.join(close)}?"
    return f"; one of {', '.join(words)}"


def _jobs(scenario: Scenario) -> Iterator[str]:
    known = set(scenario.fleet.node_names())
    names = [job.name for job in scenario.job]
    for number, job in enumerate(scenario.job):
        key = f"job[{number}]"
        if names.index(job.name) != number:
            yield f"{key}.name: {job.name!r} is taken by another job"
        if unknown := sorted(set(job.nodes) - known):
            yield f"{key}.nodes: no node {unknown[0]!r}; the fleet has {_range(known)}"
        if len(set(job.nodes)) != len(job.nodes):
            yield f"{key}.nodes: a node is named twice"
        yield from _one_model(job, key, scenario.fleet)
        yield from _ranks(job, key, scenario.fleet)
        if job.end_seconds and job.end_seconds <= job.start_seconds:
            yield f"{key}.end_seconds: must be after start_seconds ({job.start_seconds:g})"
        if job.preempt_seconds and job.resume_seconds <= job.preempt_seconds:
            yield f"{key}.resume_seconds: must be after preempt_seconds ({job.preempt_seconds:g})"
        for other in scenario.job[:number]:
            if _overlap(job, other):
                yield f"{key}.nodes: {other.name!r} runs on {_shared(job, other)} at that time"


def _one_model(job: Job, key: str, fleet: Fleet) -> Iterator[str]:
    of = dict(zip(fleet.node_names(), fleet.hardware_of_nodes(), strict=True))
    if len(models := {of[name] for name in job.nodes if name in of}) > 1:
        yield f"{key}.nodes: are of {' and '.join(sorted(models))}; a job runs on one model"


def _ranks(job: Job, key: str, fleet: Fleet) -> Iterator[str]:
    ranks = len(job.nodes) * fleet.gpus_per_node
    if ranks % (job.pipeline * job.tensor):
        yield f"{key}.pipeline: {ranks} ranks are no multiple of {job.pipeline} x {job.tensor}"


def cooling_kind(scenario: Scenario) -> str:
    """Return how a fleet is cooled."""
    return "liquid" if isinstance(scenario.fleet.cooling, LiquidCooling) else "air"


def _range(names: set[str]) -> str:
    return f"{min(names)} to {max(names)}"


def _shared(job: Job, other: Job) -> str:
    return ", ".join(sorted(set(job.nodes) & set(other.nodes)))


def _overlap(job: Job, other: Job) -> bool:
    """A job takes a while to end: it finishes the phase that it is in, a minute at most."""
    ends = [(own.end_seconds or math.inf) + 60.0 for own in (job, other)]
    together = job.start_seconds < ends[1] and other.start_seconds < ends[0]
    return together and bool(_shared(job, other))


def _maintenance(scenario: Scenario) -> Iterator[str]:
    known = set(scenario.fleet.node_names())
    for number, own in enumerate(scenario.maintenance):
        key = f"maintenance[{number}]"
        if own.node not in known:
            yield f"{key}.node: no node {own.node!r}; the fleet has {_range(known)}"
        for job in scenario.job:
            if own.node in job.nodes and _during(own, job):
                yield f"{key}.at_seconds: job {job.name!r} uses {own.node} then"


def _during(own: Maintenance, job: Job) -> bool:
    until = own.at_seconds + own.down_seconds
    return until > job.start_seconds and own.at_seconds < (job.end_seconds or math.inf) + 60.0


def _fault(fault: Fault, scenario: Scenario, known: Places) -> Iterator[str]:
    mode = FAULTS.get(fault.mode)
    if mode is None:
        yield f"mode: unknown {fault.mode!r}{_near(fault.mode, list(FAULTS))}"
        return
    if fault.entity not in known[mode.entity_kind]:
        like = difflib.get_close_matches(fault.entity, known[mode.entity_kind], 1, 0.0)
        example = like[0] if like else "none here"
        yield f"entity: no {mode.entity_kind} {fault.entity!r} in this scenario; as in {example}"
    if mode.cooling not in {"", cooling_kind(scenario)}:
        yield f"mode: {fault.mode} needs {mode.cooling} cooling"
    if fault.severity > mode.most:
        yield f"severity: at most {mode.most:g} ({mode.severity_help})"
    learning, duration = scenario.learning_seconds, scenario.duration_seconds
    if not learning <= fault.onset_seconds < duration:
        yield f"onset_seconds: must be from {learning:g} (detectors learn before) to {duration}"
    if fault.end_seconds and fault.end_seconds <= fault.onset_seconds:
        yield f"end_seconds: must be after onset_seconds ({fault.onset_seconds:g})"
    if fault.end_seconds and not mode.heals:
        yield f"end_seconds: {fault.mode} does not heal; leave it out"
