"""Kafka as a source and a target: clients, partitions, ranges of offsets, and publishing.

How a topic is cut into panes belongs to `pipelines/engine/topics`.
"""
