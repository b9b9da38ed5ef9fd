"""No test fails by the clock: a busy machine is no defect. A missing part fails in CI (see
parts.py).
"""

from hypothesis import HealthCheck, settings
from parts import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401

settings.register_profile("evenflow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evenflow")
