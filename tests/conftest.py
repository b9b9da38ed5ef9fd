"""No test fails by the clock: a busy machine is no defect. A missing part fails in CI (see
parts.py).
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from parts import (  # noqa: F401
    pytest_make_collect_report,
    pytest_runtest_makereport,
    pytest_terminal_summary,
)

settings.register_profile("evenflow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evenflow")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes do not name a test: gzip's have the time in them, and processes of xdist must agree."""
    return argname if isinstance(val, bytes) and len(val) > 64 else None


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small causal model."""
    from tiny_models import tiny_model  # it needs the extra `lab`

    return tiny_model(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small masked model."""
    from tiny_models import tiny_model

    return tiny_model(tmp_path_factory.mktemp("bert"), "bert")
