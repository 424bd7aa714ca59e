import pytest

from exporters.job import error_lines

# Lines as users of PyTorch, NCCL and Megatron-LM meet them; addresses are made up.
LINES = (
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total "
     "capacity of 79.15 GiB of which 1.21 GiB is free.", "cuda.error:oom", None),
    ("[rank5]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB",
     "cuda.error:oom", 5),
    ("UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: "
     "system not yet initialized (Triggered internally at CUDAFunctions.cpp:108.)",
     "cuda.error:802", None),
    ("Error 803: system has unsupported display driver / cuda driver combination",
     "cuda.error:803", None),
    ("[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught "
     "collective operation timeout: WorkNCCL(SeqNum=15, OpType=ALLREDUCE, Timeout(ms)=600000) "
     "ran for 600060 milliseconds before timing out.", "nccl.error:watchdog_timeout", 0),
    ("n7:983:1261 [3] NCCL WARN NET/IB : Got completion from peer 10.0.0.7<55921> with status=12 "
     "opcode=1 len=0 vendor err 129 (Send)", "nccl.error:ib_error_12", None),
    ("n7:983:1261 [3] net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.0.0.7<55921> "
     "with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0)", "nccl.error:ib_error_12", None),
    ("n7:9:12 [3] NCCL WARN NET/IB : Got completion from peer 10.0.0.7<5> with error 12, opcode 0",
     "nccl.error:ib_error_12", None),
    ("n7:9:12 [3] NCCL WARN NET/IB : Got completion from peer 10.0.0.7<5> with status=5 opcode=129",
     "nccl.error:ib_error", None),
    ("[PG 1 Rank 6] ncclRemoteError: A call failed possibly due to a network error or a remote "
     "process exiting prematurely.", "nccl.error:remote_error", 6),
    ("RuntimeError: DataLoader worker (pid 11011) is killed by signal: Bus error. It is possible "
     "that dataloader's workers are out of shared memory.", "job.log_event:shm", None),
    ("NCCL WARN Error while creating shared memory segment /dev/shm/nccl-Zo6tGE, No space left on "
     "device", "job.log_event:shm", None),
    ("OSError: [Errno 28] No space left on device", "job.log_event:enospc", None),
    ("OSError: [Errno 122] Disk quota exceeded: '/data/ckpt/iter_100'",
     "job.log_event:edquot", None),
    ("OSError: [Errno 24] Too many open files", "job.log_event:emfile", None),
    ("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
     "job.log_event:memlock", None),
    ("Failed to initialize NVML: Driver/library version mismatch",
     "job.log_event:nvml_version_mismatch", None),
)  # fmt: skip


@pytest.mark.parametrize(("line", "code", "rank"), LINES)
def test_error_line_is_the_code_that_the_runbook_knows(
    line: str, code: str, rank: int | None
) -> None:
    found = error_lines.read(line, 5)
    assert found is not None
    note, by = found
    assert (note.code, note.time_unix_nano, by) == (code, 5, rank)
    assert line.startswith(note.text)


@pytest.mark.parametrize(
    "line",
    [
        "iteration 100/500 | consumed samples: 100 | lm loss: 2.3E+00",
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.7<0>",
        "memory allocated: 79.15 GiB, maximum memory allocated: 79.20 GiB",
        "",
    ],
)
def test_ordinary_line_is_no_error(line: str) -> None:
    assert error_lines.read(line, 5) is None


def test_long_line_is_cut() -> None:
    found = error_lines.read("CUDA out of memory " + "x" * 5000, 5)
    assert found is not None
    assert len(found[0].text) == error_lines.MAX_TEXT
