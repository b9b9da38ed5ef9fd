"""Input files: finds them, reads them in blocks and turns records into documents or dead letters.

Writing shards belongs to `transforms/staging`; reading from Kafka belongs to `transforms/kafka`.
"""
