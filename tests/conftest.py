"""No test fails by the clock: a busy machine is no defect."""

from hypothesis import HealthCheck, settings

settings.register_profile("evenflow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evenflow")
