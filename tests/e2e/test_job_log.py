"""A log whose loss goes missing becomes an incident, as if the job had reported it itself."""

from pathlib import Path

from forewarn.config import JobLog
from tests.e2e.node import Node
from tests.exporters.job.test_megatron import line


def test_a_loss_that_goes_missing_in_a_log_is_an_incident_of_its_job(tmp_path: Path) -> None:
    log = tmp_path / "run1/train.log"
    log.parent.mkdir()
    log.write_text(line(1) + "\n")
    node = Node(tmp_path, job_log=(JobLog(path=str(log), format="megatron"),))
    seen = "forewarn_job_logs_followed"
    with node.running():
        node.until(lambda: node.registry.get_sample_value(seen), 60)
        with log.open("a") as file:
            file.writelines(f"{text}\n" for text in (line(2), line(3, loss="")))
        node.until(node.incidents, 60)
    incidents = node.incidents()
    node.close()
    codes = {(finding.entity, finding.code) for finding in node.findings}
    assert ("job/run1", "job.nan:loss") in codes
    (incident,) = [own for own in incidents if own.entity == "job/run1"]
    assert incident.hypotheses[0].entry.startswith("TRN")
