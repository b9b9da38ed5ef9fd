"""How the data docs look: pages of Great Expectations' content that need no network, no script, and
escape what is data.

Great Expectations' own views load their styles, fonts and scripts from elsewhere, show an index by
script alone, and put cells of tables, names of columns and descriptions into a page as they are.
Here all of that is escaped, and a page's policy allows no script. Great Expectations loads these
classes by name, from the project's great_expectations.yml.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from great_expectations.render.components import RenderedComponentContent
from great_expectations.render.renderer.renderer import Renderer
from great_expectations.render.view.view import DefaultJinjaPageView
from jinja2 import ChoiceLoader, FileSystemLoader, pass_context
from markupsafe import Markup


class OfflinePageView(DefaultJinjaPageView):
    """A page of validation results, or of a suite."""

    _template = "data_docs_page.j2"

    def __init__(
        self, custom_styles_directory: str | None = None, custom_views_directory: str | None = None
    ):
        super().__init__(custom_styles_directory, custom_views_directory)
        assert self.env.loader is not None
        self.env.loader = ChoiceLoader([FileSystemLoader(Path(__file__).parent), self.env.loader])
        self.env.autoescape = True
        # These give HTML from the styles that Great Expectations itself sets; what other filters
        # give, the templates escape.
        for name in (
            "render_styling",
            "render_styling_from_string_template",
            "attributes_dict_to_html_string",
        ):
            self.env.filters[name] = _marked(self.env.filters[name])

    def render_string_template(self, template: Any) -> Any:
        """HTML of a template of string.Template with its parameters; the text of the template is
        escaped like them.
        """
        if not isinstance(template, dict):
            return template
        # Copies: the view writes into what it renders.
        own = {**template, "template": str(Markup.escape(template.get("template") or ""))}
        if "params" in template:
            own["params"] = dict(template["params"])
        own.pop("tooltip", None)  # shown by a script
        return Markup(super().render_string_template(own))

    def render_markdown(self, markdown: Any) -> str:
        """Notes as they were written: a suite is not trusted with HTML."""
        return str(markdown)

    @pass_context
    def render_content_block(
        self,
        jinja_context: Any,
        content_block: Any,
        index: Any = None,
        content_block_id: Any = None,
        render_to_markdown: bool = False,
    ) -> Any:
        """HTML of a block of content, and of a list of them; values that are no blocks are escaped."""
        if isinstance(content_block, list):
            parts = [
                self._item(jinja_context, each, number, content_block_id)
                for number, each in enumerate(content_block)
            ]
            return Markup("").join(parts)
        if not isinstance(content_block, dict) or "content_block_type" not in content_block:
            return "" if content_block is None else Markup.escape(content_block)
        if content_block["content_block_type"] == "graph":
            return ""  # drawn by a script
        return Markup(
            super().render_content_block(
                jinja_context, content_block, index, content_block_id, render_to_markdown
            )
        )

    def _item(self, jinja_context: Any, item: Any, number: int, block_id: Any) -> Markup:
        if isinstance(item, RenderedComponentContent):
            item = item.to_json_dict()
        inner = self.render_content_block(
            jinja_context, item, number, f"{block_id}-{number}" if block_id else None
        )
        return (
            Markup(inner)
            if isinstance(item, list | dict)
            else Markup("<span>{}</span>").format(inner)
        )


def _marked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose HTML the templates take as it is."""

    def marked(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        return Markup(result) if isinstance(result, str) else result

    return marked


class PaneIndexRenderer(Renderer):
    """The site's index as plain rows; the view needs no more."""

    def render(self, index_links_dict: dict[str, Any]) -> dict[str, Any]:
        """Suites and validations, the latest first."""
        return {
            "suites": index_links_dict.get("expectations_links", []),
            "validations": index_links_dict.get("validations_links", []),
        }


class OfflineIndexView(OfflinePageView):
    """The site's index."""

    _template = "data_docs_index.j2"

    def _validate_document(self, document: Any) -> None:
        assert isinstance(document, dict)
