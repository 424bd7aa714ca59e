"""Says in both languages what a predicate means and what was seen, in the catalogue's words."""

import re
from collections.abc import Iterable

from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE, Kind, Movement, Signal
from forewarn.language import Text
from forewarn.records import Finding
from runbooks.model import Predicate

# What a movement means after the name of its signal and a colon.
PHRASES: dict[Movement, Text] = {
    "event": Text("rose", "有增加"),
    "up": Text("lastingly higher than normal", "持续高于正常水平"),
    "down": Text("lastingly lower than normal", "持续低于正常水平"),
    "step_up": Text("jumped and stayed high", "阶跃上升并保持"),
    "step_down": Text("fell and stayed low", "阶跃下降并保持"),
    "spike": Text("a spike that came back", "出现尖峰后恢复"),
    "zero": Text("zero where it should not be", "异常为零"),
    "stuck": Text("frozen, or stopped while it should go on", "停滞不变"),
    "flap": Text("went bad and back again and again", "反复异常又恢复"),
    "above": Text("over its limit", "超过限值"),
    "below": Text("under its limit", "低于限值"),
    "absent": Text("no value, though its source collects it", "应有数据但缺失"),
    "mismatch": Text("not what it should be", "与应有配置不一致"),
    "outlier": Text("different from its peers", "与同伴明显不同"),
    "grows": Text("keeps growing", "持续增长"),
    "nonzero": Text("not zero", "不为零"),
    "all": Text("the same on every peer", "所有同伴一致"),
}
_STATE = {"event": Text("went bad", "变为异常"), "zero": Text("no", "否")}
_FLAG = {
    "event": Text("yes", "是"), "nonzero": Text("yes", "是"), "above": Text("yes", "是"),
    "zero": Text("no", "否"), "below": Text("no", "否"),
}  # fmt: skip
_EVENT = {
    "event": Text("seen", "出现"), "nonzero": Text("seen", "出现"),
    "grows": Text("more and more often", "越来越频繁"),
    "step_up": Text("became graver", "升级"),
    "mismatch": Text("differs from the profile", "与标准不一致"),
}  # fmt: skip
# Rows whose help does not begin with a name for them.
LABELS: dict[str, Text] = {
    "gpu.clock_event": Text("GPU clock limit", "GPU 时钟受限"),
    "nvidia.xid": Text("NVIDIA Xid", "英伟达 Xid"),
    "nvidia.sxid": Text("NVSwitch SXid", "NVSwitch SXid"),
    "ascend.fault_code": Text("Ascend fault code", "昇腾故障码"),
    "node_pcie_nonfatal_errors_total": Text(
        "Uncorrected, non-fatal PCIe errors", "PCIe 非致命不可纠正错误数"
    ),
    "gpu_ecc_dram_corrected_errors_total": Text(
        "Corrected errors in device memory", "显存已纠正错误数"
    ),
    "gpu_ecc_dram_uncorrected_errors_total": Text(
        "Uncorrected errors in device memory", "显存不可纠正错误数"
    ),
    "gpu_ecc_sram_corrected_errors_total": Text(
        "Corrected errors in on-chip memory", "片上 SRAM 已纠正错误数"
    ),
    "switch.sensor": Text("Switch fan, supply or sensor", "交换机风扇、电源或传感器"),
    "nic.module_event": Text("Optical module event", "光模块事件"),
    "nic.link_state": Text("State of the network port", "网卡端口状态"),
    "job.state": Text("State of the job", "任务状态"),
    "job.config": Text("Code, libraries or layout of the job", "任务代码、库或并行配置"),
    "job.nan": Text("Value that is not a number", "上报值为 NaN 或无穷"),
    "job.log_event": Text("Known line of the job's log", "任务日志中的已知事件"),
    "job_queue_wait_seconds": Text("Time the job has waited in the queue", "任务排队时间"),
    "job_tokens_per_step": Text("Tokens in one step", "单步处理的 token 数"),
    "bmc.sel": Text("Event of the board controller", "BMC 事件"),
    "kernel.aer": Text("PCIe error in the kernel log", "内核日志中的 PCIe 错误"),
    "psu.state": Text("State of a power supply", "电源模块状态"),
    "facility_it_power_watts": Text("Power of the IT equipment", "IT 设备总功率"),
    "node.boot_id": Text("Start of the node", "节点启动"),
    "kernel.event": Text("Kernel message", "内核消息"),
    "kernel.oom": Text("Out-of-memory kill", "内存耗尽终止进程（OOM）"),
}
UNITS = {
    "celsius": "°C", "watts": "W", "seconds": "s", "hertz": "Hz", "bytes": "B", "rpm": "rpm",
    "volts": "V", "amperes": "A", "pascals": "Pa", "decibels": "dB",
    "bytes_per_second": "B/s", "liters_per_second": "l/s", "tokens_per_second": "tokens/s",
}  # fmt: skip
_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SCALED = frozenset({"Hz", "B", "W", "Pa", "B/s"})


def label(signal: Signal) -> Text:
    """Return the name of a signal as people say it: the head of its help."""
    if signal.name in LABELS:
        return LABELS[signal.name]
    english = re.split(r"[;:,.(]", signal.help.en)[0].strip()
    chinese = re.split(r"[；：，。（]", signal.help.zh)[0].strip()
    flag = re.fullmatch(r"1 (?:when|while) (.+)", english)
    if flag:
        english = flag[1][0].upper() + flag[1][1:]
    return Text(english, re.sub(r"时?为 ?1$", "", chinese))


def phrase(signal: Signal, movement: Movement | None) -> Text:
    """Return what the movement means for that kind of signal."""
    if movement is None:
        return Text("seen", "出现")
    if signal.kind is Kind.EVENT and movement in _EVENT:
        return _EVENT[movement]
    if signal.kind is Kind.STATE and signal.unit == "bool" and movement in _FLAG:
        return _FLAG[movement]
    if signal.kind is Kind.STATE and movement in _STATE:
        return _STATE[movement]
    return PHRASES[movement]


def predicate_text(predicate: Predicate, findings: Iterable[Finding] = ()) -> Text:
    """Say what the predicate looks for; with findings, what they saw and where."""
    seen = tuple(findings)
    if predicate.any:
        return _alternatives(predicate, seen)
    signal = CATALOGUE[predicate.signal]
    name, moved = label(signal), phrase(signal, predicate.movement)
    codes = _codes(predicate, seen)
    limit = _limit(predicate, signal)
    english = f"{name.en}{codes.en}: {limit.en or moved.en}"
    chinese = f"{name.zh}{codes.zh}：{limit.zh or moved.zh}"
    where = _where(seen, signal)
    return Text(english + where.en, chinese + where.zh)


def finding_text(finding: Finding) -> Text:
    """Say what a finding saw, as a title: `State of the job (failed): seen`."""
    if finding.signal not in CATALOGUE:
        return Text(f"{finding.signal} {finding.movement}", f"{finding.signal} {finding.movement}")
    codes = (finding.code,) if finding.code else ()
    return predicate_text(Predicate(signal=finding.signal, movement=finding.movement, codes=codes))


def _alternatives(predicate: Predicate, seen: tuple[Finding, ...]) -> Text:
    signals = {finding.signal for finding in seen}
    for own in predicate.any:
        if own.signal in signals:
            return predicate_text(own, [f for f in seen if f.signal == own.signal])
    texts = [predicate_text(own) for own in predicate.any]
    english = _joined([t.en for t in texts], ": ", "; or ", ", or ")
    return Text(english, _joined([t.zh for t in texts], "：", "；或", "，或"))


def _joined(texts: list[str], colon: str, between: str, within: str) -> str:
    """Join what is said of one signal: `Name: this, or that`; of several: `A: this; or B: that`."""
    heads = {text.partition(colon)[0] for text in texts}
    if len(heads) > 1:
        return between.join(texts)
    return heads.pop() + colon + within.join(text.partition(colon)[2] for text in texts)


def _codes(predicate: Predicate, seen: tuple[Finding, ...]) -> Text:
    """Return ` 79` or ` (loss)`: the codes that were seen, else those that would count."""
    found = tuple(dict.fromkeys(f.code for f in seen if f.code)) or predicate.codes
    own = [code.partition(":")[2] for code in found]
    if not own:
        return Text()
    listed = ", ".join(own[:4]) + (f" … ({len(own)})" if len(own) > 4 else "")
    if own[0][0].isdigit():
        return Text(f" {listed}", f" {listed}")
    return Text(f" ({listed})", f"（{listed}）")


def _limit(predicate: Predicate, signal: Signal) -> Text:
    if predicate.value is None:
        return Text()
    value = quantity(predicate.value, signal.unit)
    if predicate.movement == "above":
        return Text(f"above {value}", f"高于 {value}")
    return Text(f"below {value}", f"低于 {value}")


def _where(seen: tuple[Finding, ...], signal: Signal) -> Text:
    """Return ` (GPU 0000:1a:00.0 of n7, 91 °C, normally 74 °C)` of the first finding."""
    if not seen:
        return Text()
    first = seen[0]
    own = place(first.entity)
    english, chinese = [own.en], [own.zh]
    if first.observed is not None and signal.kind is not Kind.COUNTER:
        english.append(quantity(first.observed, signal.unit))
        chinese.append(quantity(first.observed, signal.unit))
        if first.expected is not None:
            expected = quantity(first.expected, signal.unit)
            english.append(f"normally {expected}")
            chinese.append(f"正常约 {expected}")
    if len(seen) > 1:
        english.append(f"{len(seen)} findings")
        chinese.append(f"共 {len(seen)} 处")
    return Text(f" ({', '.join(english)})", f"（{'，'.join(chinese)}）")


def place(entity: str) -> Text:
    """Return an entity as people say it: `gpu 0000:1a:00.0 of node n7`."""
    parts = entity.split("/")
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    if not pairs:
        return Text(entity, entity)
    named = [f"{kind} {entities.plain(name)}" for kind, name in pairs]
    return Text(" of ".join(reversed(named)), " ".join(named))


def quantity(value: float, unit: str) -> str:
    """Return a value with its unit, shares in percent, large numbers with an SI prefix."""
    if unit == "ratio":
        return f"{100 * value:.4g} %"
    symbol = UNITS.get(unit, "")
    if symbol in _SCALED:
        for factor, prefix in _SI:
            if abs(value) >= factor:
                return f"{value / factor:.4g} {prefix}{symbol}"
    return f"{value:.4g} {symbol}".rstrip()
