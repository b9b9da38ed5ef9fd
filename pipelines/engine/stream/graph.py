"""The gate on Kafka as a Beam graph: readers, spread over the workers, and nothing after them.

Readers stage blocks and write marks into the storage, and the committer closes panes by these (see
`marks` and `board`). So a runner need not fire windows, keep watermarks or checkpoint. It starts
readers, and starts them again when a worker is lost. How many of them run does not matter: the
committer gives the partitions to those that do.
"""

from __future__ import annotations

import apache_beam as beam

from evenflow.pipelines.engine.files.making import GraphContext
from evenflow.pipelines.engine.stream.marks import STATE
from evenflow.pipelines.engine.stream.reader import Reads, TopicReader

WAIT_SECONDS = 1.0  # between two attempts of a second reader of a process


class ReadTopic(beam.DoFn):
    """Step number -> nothing; reads until the run is over.

    Of a process one reader works. The others of the process wait, and take over when it fails.
    """

    def __init__(self, reads: Reads, context: GraphContext):
        self._reads, self._context = reads, context

    def process(self, element: int) -> None:
        """Read until the run is over."""
        with self._context.noting_failure():
            worker = self._context.worker()
            while not worker.busy.acquire(timeout=WAIT_SECONDS):
                if not self._reads.run.exists(STATE):
                    return
            try:
                TopicReader(self._reads, worker.annotator).read()
            finally:
                worker.busy.release()


def build_graph(pipeline: beam.Pipeline, reads: Reads, context: GraphContext, readers: int) -> None:
    """Build the graph: numbers -> spread over the workers -> read, annotate, stage."""
    _ = (
        pipeline
        | "Readers" >> beam.Create(range(readers), reshuffle=False)
        | "Spread" >> beam.Reshuffle()
        | "Read, annotate, stage" >> beam.ParDo(ReadTopic(reads, context))
    )
