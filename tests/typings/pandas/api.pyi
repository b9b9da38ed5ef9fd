from typing import Any

types: Any
