"""Detectors and linguistic indicators of stereotypes, piece by piece, with their models."""
