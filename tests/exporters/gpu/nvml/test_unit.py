from types import SimpleNamespace

from exporters.gpu.nvml.api import Device
from exporters.gpu.nvml.slices import NONE
from exporters.gpu.nvml.teller import Teller
from exporters.gpu.nvml.unit import Unit
from tests.exporters.fakes import Everything, Line
from tests.exporters.gpu.nvml.fakes import Binding, nvml

GPU = "node/n7/gpu/0000:1a:00.0"


def binding() -> Binding:
    own = Binding()
    own.functions = {
        "nvmlDeviceGetUUID": lambda device: "GPU-1",
        "nvmlSystemGetDriverVersion": lambda: "580.65.06",
        "nvmlDeviceGetCurrentClocksEventReasons": lambda device: 0x48,
        "nvmlDeviceGetComputeRunningProcesses": lambda device: [
            SimpleNamespace(pid=7, gpuInstanceId=NONE, computeInstanceId=NONE),
            SimpleNamespace(pid=8, gpuInstanceId=3, computeInstanceId=0),
        ],
    }
    return own


def test_processes_become_users_of_the_gpu_and_of_its_slices(line: Line) -> None:
    teller = Teller()
    teller.attach(line.outlet)
    Unit(GPU, Device(nvml(binding()), object()), teller).read(Everything())
    assert line.announcer.devices_of(7) == (GPU,)
    assert line.announcer.devices_of(8) == (f"{GPU}/mig/3",)


def test_before_there_is_an_outlet_nothing_is_told(line: Line) -> None:
    Unit(GPU, Device(nvml(binding()), object()), Teller()).read(Everything())
    line.announcer.announce()
    assert (line.events(), line.items()) == ([], [])


def test_a_gpu_that_tells_almost_nothing_is_read_all_the_same(line: Line) -> None:
    found = Unit(GPU, Device(nvml(Binding()), object()), Teller())
    assert {m.outcome.name for m in found.read({"gpu_temperature_celsius"})} == {"UNSUPPORTED"}
