"""Lets kafka-python write lz4 and snappy with pyarrow, as Java's clients write them."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pytest
from kafka import KafkaProducer, codec
from kafka.record import default_records, legacy_records

BLOCK_BYTES = 32 << 10  # of the snappy that Java's clients write


def lz4(data: bytes, *_: Any) -> bytes:
    """A frame of lz4 whose blocks do not depend on each other: brokers take no other."""
    out = bytearray(bytes.fromhex("04224d18604082"))  # the checksum of this header at its end
    for begin in range(0, len(data), 2 * BLOCK_BYTES):
        block = pa.Codec("lz4_raw").compress(
            bytes(data[begin : begin + 2 * BLOCK_BYTES]), asbytes=True
        )
        out += struct.pack("<I", len(block)) + block
    return bytes(out + bytes(4))


def snappy_block(data: bytes, *_: Any) -> bytes:
    """One block of snappy alone, as librdkafka writes it."""
    return pa.Codec("snappy").compress(bytes(data), asbytes=True)


def snappy(data: bytes, *_: Any) -> bytes:
    """Blocks of snappy behind their header, as Java's clients write them."""
    out = bytearray(b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1))
    for begin in range(0, len(data), BLOCK_BYTES):
        block = snappy_block(data[begin : begin + BLOCK_BYTES])
        out += struct.pack(">i", len(block)) + block
    return bytes(out)


def use(monkeypatch: pytest.MonkeyPatch, snappy_encode: Any = snappy) -> None:
    """Let producers and builders of batches of this process write both."""
    for module in (default_records, legacy_records):
        monkeypatch.setattr(module, "lz4_encode", lz4)
        monkeypatch.setattr(module, "snappy_encode", snappy_encode)
    compressors: dict[str, Any] = getattr(KafkaProducer, "_COMPRESSORS")  # noqa: B009 (unknown to the types)
    for name in ("lz4", "snappy"):
        monkeypatch.setattr(codec, f"has_{name}", lambda: True)
        monkeypatch.setitem(compressors, name, (lambda: True, compressors[name][1]))
