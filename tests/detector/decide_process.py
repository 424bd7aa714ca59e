"""Runs decide over a bus in files until it is killed: `decide_process.py FOLDER URL`."""

import logging
import sys
import threading
from pathlib import Path

from prometheus_client import CollectorRegistry

from detector import decide
from forewarn.config import BusSettings, Decide, Settings, Webhook
from tests.detector.file_bus import FileBus

folder, url = Path(sys.argv[1]), sys.argv[2]
logging.basicConfig(level=logging.INFO)
settings = Settings(
    cluster="c",
    bus=BusSettings(kind="kafka"),  # a bus that outlives the process: stored offsets count
    decide=Decide(listen="127.0.0.1:0", database=str(folder / "decide.sqlite")),
    webhook=(Webhook(name="ops", url=url),),
)
decide.run(FileBus(folder), settings, threading.Event(), CollectorRegistry())
