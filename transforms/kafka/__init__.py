"""Kafka as a source and a target: clients, partitions, offsets, panes, and publishing.

How a stream is judged and its panes are closed belongs to `pipelines/engine/stream`.
"""
