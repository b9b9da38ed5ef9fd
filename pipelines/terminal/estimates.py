"""The lines of `evenflow llm estimate`."""

from __future__ import annotations

from typing import Any


def draw(result: Any) -> None:
    """Print an estimate (transforms.repair.estimate.result)."""
    print(_estimate_lines(result), end="")


def _estimate_lines(result: Any) -> str:
    """The estimate as lines of text."""
    size = f"{result['sampled_share']:.2%} of {result['input_bytes'] / 1e6:,.1f} MB"
    speed = f"{result['tokens_a_second']:,.0f} tokens a second"
    lines = [f"{result['sampled_documents']:,} documents looked at, {size}; hours at {speed}"]
    lines.append(f"{'':<28}{'questions':>24}{'tokens':>18}{'hours':>12}")
    for mode, meant in (("cascade", "what the small models are unsure of"), ("llm", "everything")):
        lines.append(f"{mode}: {meant}")
        found = result["modes"][mode]
        for prompt, each in found["prompts"].items():
            step = result["steps"][prompt]
            lines.append(_estimate_line(prompt if prompt == step else f"{step}: {prompt}", each))
        lines.append(_estimate_line("in all", found["all"]))
    lines.append("embedded: nothing")
    own = result["configured"]
    asked = ", ".join(
        f"{prompt} {mode}" for prompt, mode in own["prompts"].items() if mode != "embedded"
    )
    lines.append(f"as configured: {asked or 'nothing, neither stereotypes nor repair are on'}")
    lines.append(_estimate_line("in all", own["all"]))
    return "\n".join(lines) + "\n"


def _estimate_line(name: str, each: Any) -> str:
    """A row: questions with their margin, tokens and hours."""
    within = "" if each["within"] is None else f" ± {each['within']:,}"
    count = f"{each['questions']:,}{within}"
    return f"  {name:<26}{count:>24}{each['tokens']:>18,}{each['hours']:>12,.2f}"
