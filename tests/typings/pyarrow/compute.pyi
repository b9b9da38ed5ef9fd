"""What the project uses of pyarrow.compute. A name that is not listed is Any."""

from typing import Any

def __getattr__(name: str) -> Any: ...
