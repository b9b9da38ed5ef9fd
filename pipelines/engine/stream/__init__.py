"""The gate on a Kafka topic: the Beam graph, its runner, the driver, publishing.

Reading and writing topics without a gate is in `transforms.kafka`.
"""
