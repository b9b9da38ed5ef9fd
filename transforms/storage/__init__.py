"""A tree of files: a local directory, or a prefix of an object store (s3://, gs://, az://).

All that a run writes, and all input that is not local, goes through it.
"""
