"""Kafka as a source: clients, partitions, offsets, panes, what is written back."""
