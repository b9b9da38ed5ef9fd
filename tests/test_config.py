from pathlib import Path

import pytest
import yaml

from evenflow.schemas.config import Config, ConfigError, commented, load


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pane: {rollin: 3}", "unknown key 'pane.rollin'; did you mean 'rolling'?"),
        ("gates: {}", "did you mean 'gate'?"),
        ("pane: {docs: many}", "pane.docs"),
        ("gate: {warn: 0.5, block: 0.4}", "gate: block (0.4) is below warn (0.5)"),
        ("[1]", "a mapping of keys"),
        ("a: [", "not YAML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(path)
    assert message in str(error.value)


def test_the_commented_form_is_the_configuration() -> None:
    config = load(None, {"pane.docs": 7})
    assert Config.model_validate(yaml.safe_load(commented(config))) == config
