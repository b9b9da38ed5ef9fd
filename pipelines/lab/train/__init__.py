"""Models: fine-tuning on accepted documents, benchmarks, and experiments that compare models.

It needs the extra `lab`. PyTorch is imported within functions, where it is used.
"""
