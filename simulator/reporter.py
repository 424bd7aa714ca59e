"""What a job reports, as frames and events of the agents on its nodes: once a step."""

import numpy as np

from forewarn import entity as entities
from forewarn.records import Event, Frame, Severity
from forewarn.wire import encode_layout
from simulator.fleet import Bools, Floats, Machines
from simulator.frames import layout
from simulator.job import JobRun
from simulator.knobs import Telling
from simulator.nodes import Nodes
from simulator.report import LogLine, PhaseChange, StepReport
from simulator.signals import CHECKPOINT_SIGNALS, JOB_SIGNALS, RANK_SIGNALS

TOKENS_QUANTUM = 4096


class JobFrames:
    """Makes the frames of one job: its ranks by node, and the job's own values at rank 0's node."""

    def __init__(self, run: JobRun, machines: Machines, cluster: str) -> None:
        self._run, self._cluster, self._machines = run, cluster, machines
        self.entity = entities.path("job", run.job.name)
        self._source = f"reporter:{run.job.name}"
        self._layouts: dict[tuple[int, bool], bytes] = {}
        job, hardware = run.job, machines.models[run.nodes[0]]
        peak = hardware.peak_flops_per_second * len(run.gpus)
        tokens = job.mfu_ratio * peak * job.step_seconds / (6.0 * job.parameters)
        # Six operations a parameter and token, forward and backward (PaLM, appendix B).
        self.tokens = max(round(tokens / TOKENS_QUANTUM), 1) * TOKENS_QUANTUM
        self._flops_per_token, self._peak = 6.0 * job.parameters, peak

    def frames(self, report: StepReport, nodes: Nodes, mute: Bools) -> list[Frame]:
        """Return the frames of one step, passed on by the agents of nodes that are not `mute`."""
        ranks = np.stack(
            [
                np.full(len(report.compute), report.step_seconds),
                report.compute,
                report.data,
                report.exchange,
            ]
        )
        width = self._machines.width
        out = []
        for place, node in enumerate(self._run.nodes):
            if mute[node]:
                continue
            values = ranks[:, place * width : (place + 1) * width].ravel()
            if place == 0:
                values = np.concatenate([values, self._job_values(report)])
            out.append(self._frame(report, place, node, values, nodes))
        return out

    def _job_values(self, report: StepReport) -> Floats:
        rate = self.tokens / report.step_seconds
        values = [
            report.loss,
            report.gradient_norm,
            report.step_seconds,
            self.tokens,
            rate,
            rate * self._flops_per_token / self._peak,
            self._run.job.first_step + report.step,
            float(report.exchange.mean()),
        ]
        if report.checkpoint_seconds is not None:
            values.append(report.checkpoint_seconds)
        return np.array(values, dtype=np.float64)

    def _frame(
        self, report: StepReport, place: int, node: int, values: Floats, nodes: Nodes
    ) -> Frame:
        return Frame(
            cluster=self._cluster,
            node=self._machines.names[node],
            source=self._source,
            seq=nodes.next_seq(node, self._source),
            time_unix_nano=nodes.clock(node, self._read_at(report.seconds)),
            boot_id=nodes.boot_id[node],
            layout=self._layout(place, report.checkpoint_seconds is not None),
            values=values.tobytes(),
        )

    def _read_at(self, seconds: float) -> float:
        """Return when the agent tells of what its jobs said at `seconds`: at once, or by beats."""
        beat = self._machines.beat
        return seconds if beat == 1 else seconds - seconds % beat

    def _layout(self, place: int, checkpoint: bool) -> bytes:
        key = (place, checkpoint)
        if key not in self._layouts:
            width = self._machines.width
            ranks = range(place * width, (place + 1) * width)
            own = [f"{self.entity}/rank/{rank}" for rank in ranks]
            pairs = [(signal, rank) for signal in RANK_SIGNALS for rank in own]
            if place == 0:
                extra = CHECKPOINT_SIGNALS if checkpoint else ()
                pairs += [(signal, self.entity) for signal in (*JOB_SIGNALS, *extra)]
            self._layouts[key] = encode_layout(layout(pairs))
        return self._layouts[key]

    def told(self, what: Telling, second: float, nodes: Nodes) -> Event:
        """Return an event that a fault makes, of the job or of the rank on a GPU."""
        if what.kind == "job":
            entity, rank = self.entity, 0
        else:
            rank = int(np.flatnonzero(self._run.gpus == what.index)[0])
            entity = f"{self.entity}/rank/{rank}"
        return self._event(entity, what.code, what.severity, what.text, rank, second, nodes)

    def event(self, said: PhaseChange | LogLine, nodes: Nodes) -> Event:
        """Return a change of state as an event of rank 0's node, a line as one of its rank's."""
        if isinstance(said, LogLine):
            entity = f"{self.entity}/rank/{said.rank}"
            return self._event(
                entity, said.code, "major", said.text, said.rank, said.seconds, nodes
            )
        why = f" ({said.detail})" if said.detail else ""
        text = f"job {said.job}: {said.state} after step {self._run.steps}{why}"
        severity: Severity = "major" if said.state in {"failed", "node_fail"} else "info"
        code = f"job.state:{said.state}"
        return self._event(self.entity, code, severity, text, 0, said.seconds, nodes)

    def _event(
        self, entity: str, code: str, severity: Severity, text: str, rank: int, seconds: float,
        nodes: Nodes,
    ) -> Event:  # fmt: skip
        node = int(self._run.gpus[rank]) // self._machines.width
        return Event(
            cluster=self._cluster,
            entity=entity,
            code=code,
            time_unix_nano=nodes.clock(node, self._read_at(seconds)),
            severity=severity,
            text=text,
            node=self._machines.names[node],
            source=self._source,
            boot_id=nodes.boot_id[node],
            seq=nodes.next_seq(node, f"{self._source}/events"),
        )
