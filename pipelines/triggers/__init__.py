"""Triggers: what an action does, and the worker that acts on decisions beside the stream."""
