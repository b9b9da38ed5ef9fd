"""The gate on a topic: ranges of offsets, cut by what the broker says, and publishing.

Reading and writing topics without a gate is in `transforms.kafka`.
"""
