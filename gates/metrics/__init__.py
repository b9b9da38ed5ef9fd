"""Metrics for Prometheus: pure functions of the ledger's sums, the configuration and the present.

One file a subject; `families.families` puts them together. Counters come from the sums of the
ledger, so they continue after a restart. Values of labels are words of the configuration, of word
lists, of prompts or of this code, and numbers of partitions; never words of a document.
"""
