"""No test fails by the clock: a busy machine is no defect. A missing part fails in CI (see
parts.py).
"""

from hypothesis import HealthCheck, settings
from parts import (  # noqa: F401
    pytest_make_collect_report,
    pytest_runtest_makereport,
    pytest_terminal_summary,
)

settings.register_profile("evenflow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evenflow")
