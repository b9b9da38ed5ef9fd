"""Looks, before a gate reads its first document, whether all is there that it will need.

Nothing is kept: what is written to try an output is deleted, and no record is sent to a topic.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from uuid import uuid4

from evenflow.gates.lock import OutputLock
from evenflow.pipelines.terminal.endings import explained_system
from evenflow.pipelines.terminal.missing import installing
from evenflow.schemas.config import Config
from evenflow.schemas.errors import EvenflowError
from evenflow.schemas.secrets import mask_address, read_address
from evenflow.transforms.io import files
from evenflow.transforms.storage.storage import Storage, StorageError, at

State = Literal["fine", "note", "missing"]
SKEW_SECONDS = 60.0  # by which a store's clock may differ; some refuse requests from 300 on
CONNECT_SECONDS = 5.0
STORE_SECONDS = 10.0  # a run tries for longer
PORTS = {"http": 80, "https": 443}
LEDGER = "doctor"  # whose transactional id tries the right to transactions


@dataclass(frozen=True)
class Diagnosis:
    """What one look found.

    Attributes:
        part: What was looked at, such as "output".
        state: "missing" ends a gate sooner or later; a "note" does not.
        text: A sentence: what there is, or what is missing and what to do.
    """

    part: str
    state: State
    text: str


@dataclass(frozen=True)
class Topic:
    """A topic to look at, with its cluster and what a gate does there.

    Attributes:
        group: The consumer group; None without one.
    """

    broker: str
    name: str
    group: str | None = None
    targets: Sequence[str] = ()


@dataclass(frozen=True)
class Planned:
    """What a gate is going to use; None where it is not known yet.

    Attributes:
        runner: Options of Beam; empty for in-process.
    """

    config: Config
    inputs: Sequence[str] = ()
    output: Storage | None = None
    topic: Topic | None = None
    runner: Sequence[str] = ()


def examine(planned: Planned) -> Iterator[Diagnosis]:
    """Look at all that a gate will need.

    Yields:
        What was found, part by part.
    """
    looks: list[tuple[str, Callable[[Planned], Iterator[Diagnosis]]]] = [
        ("packages", _packages),
        ("plug-ins", _plugins),
        ("models", _models),
        ("measures", _measures),
        ("input", _input),
        ("output", _output),
        ("kafka", _kafka),
        ("language model", _llm),
        ("metrics", _metrics),
        ("triggers", _triggers),
        ("runner", _runner),
    ]
    for part, look in looks:
        own = planned.output if part == "output" else None
        try:
            yield from look(planned)
        except EvenflowError as error:
            yield Diagnosis(part, "missing", str(error))
        except OSError as error:
            yield Diagnosis(part, "missing", explained_system(error, own))
        except ModuleNotFoundError:
            continue  # the first look has said it


def _packages(planned: Planned) -> Iterator[Diagnosis]:
    """The packages of extras that the plan asks for."""
    config = planned.config
    trained = any(
        rule.finetune or rule.benchmark or rule.experiment for rule in config.triggers.values()
    )
    wanted = {
        "apache_beam": bool(planned.runner),
        "kafka": planned.topic is not None,
        "onnxruntime": config.has_sentence_table,
        "obstore": any("://" in each for each in planned.inputs),
        "httpx": config.llm.url is not None,
        "torch": trained,
    }
    for module in (name for name, is_wanted in wanted.items() if is_wanted):
        if find_spec(module) is None:
            text = f"the Python package {module!r} is missing; {installing(module)}"
            yield Diagnosis("packages", "missing", text)
        else:
            yield Diagnosis("packages", "fine", f"{module} is there")


def _plugins(_: Planned) -> Iterator[Diagnosis]:
    """The plug-ins that installed packages declare; each is loaded."""
    from evenflow.schemas import plugins
    from evenflow.schemas.plugin_finder import PluginFinder

    uses = {plugins.ATTRIBUTES: PluginFinder, plugins.MEASURES: plugins.measure}
    for row in plugins.listed(uses):
        text = row["problem"] or f"{row['name']} of {row['package']}: {row['place']}"
        yield Diagnosis(row["kind"], "missing" if row["problem"] else "fine", text)


def _models(planned: Planned) -> Iterator[Diagnosis]:
    """The shipped models, whose digests are looked at as they are loaded."""
    if not planned.config.has_sentence_table:
        return
    from evenflow.transforms.models.encoder import Encoder
    from evenflow.transforms.models.reader import Reader
    from evenflow.transforms.models.sieve import Sieve
    from evenflow.transforms.models.static import FirstStage

    for kind in (FirstStage, Sieve, Reader, Encoder):
        kind.shipped()
    yield Diagnosis("models", "fine", "first stage, sieve, reader and encoder are whole")


def _measures(planned: Planned) -> Iterator[Diagnosis]:
    """What measures read before a run, such as a reference."""
    from evenflow.transforms.measures import registry

    notes: list[str] = []
    registry.look(planned.config, notes.append)
    yield from (Diagnosis("measures", "note", each) for each in notes)


def _input(planned: Planned) -> Iterator[Diagnosis]:
    """The input's files."""
    if planned.inputs:
        within: AbstractContextManager[None] = nullcontext()
        if any("://" in each for each in planned.inputs):
            from evenflow.transforms.storage.objects import trying

            within = trying(STORE_SECONDS)
        with within:
            found = files.find(planned.inputs, planned.config.strict_input)
        size = sum(each.bytes for each in found.files.values())
        count = "1 file" if len(found.files) == 1 else f"{len(found.files):,} files"
        yield Diagnosis("input", "fine", f"{count}, {size / 1e6:,.1f} MB as stored")
        for text in found.said:
            yield Diagnosis("input", "note", text)


def _output(planned: Planned) -> Iterator[Diagnosis]:
    """What a gate does with its output, its clock, and the room there."""
    output = planned.output
    if output is None:
        return
    with _scratch(output) as scratch:
        if not scratch.create("one", b"1") or scratch.create("one", b"2"):
            raise StorageError(
                f"{output}: what must be created once is overwritten there (it has no conditional"
                " writes); the ledger cannot be kept there. Give another --output"
            )
        scratch.write("two", b"2")
        scratch.place([("two", "three")])
        found = scratch.stat("three")
        if scratch.read("three") != b"2" or "three" not in scratch.names("") or found is None:
            raise StorageError(f"{output}: a file that was written is not listed or not the same")
        scratch.remove(["one"])
        yield Diagnosis("output", "fine", "files are created once, renamed, listed and deleted")
        skew = abs(time.time() - (found.modified or 0) / 1e9) if found.modified else 0.0
        if skew > SKEW_SECONDS:
            text = f"the store's clock and this machine's differ by {skew:,.0f} s; set this one"
            yield Diagnosis("clock", "missing", text)
        else:
            yield Diagnosis("clock", "fine", "the store's is this machine's")
    if output.local is not None:
        room = shutil.disk_usage(_there(output.local))
        share, least = room.free / room.total, planned.config.alerts.disk_free
        text = f"{room.free / 1e9:,.1f} GB are free, {share:.0%} of the disk"
        less = f"{text}; an alert fires below {least:.0%}"
        yield Diagnosis(
            "disk", "note" if share < least else "fine", less if share < least else text
        )
        if (output.local / "gate" / "lock").exists():
            with OutputLock(output.local):
                pass


@contextmanager
def _scratch(output: Storage) -> Iterator[Storage]:
    """A folder of an output that is deleted after the block; nothing else of it is made."""
    if output.local is None:
        from evenflow.transforms.storage.objects import trying

        with trying(STORE_SECONDS):
            output.below("").names("")  # a store that does not answer has nothing to delete
            below = output.below(f"gate/probe/{uuid4().hex}")
            try:
                yield below
            finally:
                below.remove_tree("")
        return
    with tempfile.TemporaryDirectory(prefix=".evenflow-", dir=_there(output.local)) as folder:
        yield at(folder)


def _there(path: Path) -> Path:
    """The nearest folder above a path, or itself, that is there."""
    return next(each for each in (path, *path.absolute().parents) if each.exists())


def _kafka(planned: Planned) -> Iterator[Diagnosis]:
    """The topics, the group's offsets, and the right to transactions."""
    topic = planned.topic
    if topic is None:
        return
    from evenflow.transforms.kafka.batches import codecs
    from evenflow.transforms.kafka.cluster import Cluster
    from evenflow.transforms.kafka.lookups import Lookups
    from evenflow.transforms.kafka.offsets import GroupOffsets
    from evenflow.transforms.kafka.output import PanePublisher
    from evenflow.transforms.kafka.proof import ProofTopic
    from evenflow.transforms.kafka.settings import KafkaSettings

    read = codecs()
    if lacking := {"lz4", "snappy"} - {*read}:
        text = f"pyarrow was built without {' and '.join(sorted(lacking))}; install its wheel"
        yield Diagnosis("codecs", "missing", text)
    else:
        yield Diagnosis("codecs", "fine", f"records in {', '.join(read)} are read")
    config = planned.config.kafka
    settings = KafkaSettings(topic.broker, config.security)
    cluster = Cluster(settings)
    partitions = range(cluster.partitions(topic.name))
    with closing(Lookups(settings, topic.name)) as found:
        records = sum(found.ends(partitions).values()) - sum(found.firsts(partitions).values())
    text = f"{topic.name} has {len(partitions)} partitions with {records:,} records"
    yield Diagnosis("topic", "fine", text)
    for name in topic.targets:
        text = f"{name}, published to, has {cluster.partitions(name)} partitions"
        yield Diagnosis("topic", "fine", text)
    group = topic.group or ("evenflow" if topic.targets else None)
    if group is None:
        return
    offsets = GroupOffsets(settings, group)
    try:
        known = offsets.committed((topic.name, number) for number in partitions)
    finally:
        offsets.close()
    text = f"{group} has offsets of {len(known)} of {len(partitions)} partitions"
    yield Diagnosis("group", "fine", text)
    if topic.targets:
        proofs = ProofTopic(settings, config.proof_topic)
        publisher = PanePublisher(
            settings, group, proofs, LEDGER, topic.name, topic.targets, config.delivery_seconds
        )
        try:
            publisher.connect()
        finally:
            publisher.close()
        yield Diagnosis("transactions", "fine", "the broker lets this user begin them")


def _llm(planned: Planned) -> Iterator[Diagnosis]:
    """The language model's server."""
    if planned.config.llm.url is None:
        return
    from evenflow.prompts import loader
    from evenflow.transforms.llm.client.client import Client
    from evenflow.transforms.llm.client.http import REFUSED
    from evenflow.transforms.llm.client.server import describe
    from evenflow.transforms.llm.questions import Question
    from evenflow.transforms.llm.worker import settings

    server = settings(planned.config)
    version = describe(server).version
    text = f"{server.shown} has {server.model}" + (f", version {version}" if version else "")
    yield Diagnosis("language model", "fine", text)
    remarks: list[str] = []
    with Client(server, say=remarks.append) as client:
        for name in loader.names():
            [each] = client.ask([Question.example(loader.load(name))])
            text = each.reason or f"{each.seconds:.2f} s, {each.tokens} tokens"
            yield Diagnosis(f"prompt {name}", "missing" if each.reason else "fine", text)
            if each.reason == REFUSED:
                break  # no other question would do better
    yield from (Diagnosis("language model", "note", each) for each in remarks)


def _metrics(planned: Planned) -> Iterator[Diagnosis]:
    """The port that Prometheus reads."""
    port = planned.config.metrics.port
    if port:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("", port))
            except OSError as error:
                text = f"port {port}: {error.strerror}; give another as metrics.port"
                yield Diagnosis("metrics", "missing", text)
                return
        yield Diagnosis("metrics", "fine", f"port {port} is free")


def _triggers(planned: Planned) -> Iterator[Diagnosis]:
    """The servers and programs of rules; nothing is sent to a server."""
    for name, rule in planned.config.triggers.items():
        if rule.webhook:
            address = read_address(rule.webhook.url)
            parts = urlsplit(address)
            where = parts.hostname or "", parts.port or PORTS[parts.scheme]
            yield _answers(f"trigger {name}", mask_address(address), where)
        program = (rule.command or [None])[0]
        if isinstance(program, str):
            found = shutil.which(program)
            text = f"the program is {found}" if found else f"there is no program {program}"
            yield Diagnosis(f"trigger {name}", "fine" if found else "missing", text)


def _answers(part: str, shown: str, where: tuple[str, int]) -> Diagnosis:
    """Whether a server accepts connections."""
    try:
        socket.create_connection(where, CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or error
        return Diagnosis(part, "missing", f"{shown}: no server answers ({reason})")
    return Diagnosis(part, "fine", f"{shown} accepts connections")


def _runner(planned: Planned) -> Iterator[Diagnosis]:
    """The job server of a runner, where one is named."""
    for option in planned.runner:
        name, _, value = option.partition("=")
        if name == "--job_endpoint":
            host, _, port = value.rpartition(":")
            yield _answers("runner", f"the job server at {value}", (host, int(port)))
