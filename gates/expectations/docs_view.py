"""Views of the data docs: pages that need no network and no script, and that escape all data.

The views of Great Expectations load styles, fonts and scripts from elsewhere and need a script to
show the index. They also copy cells of tables, names of columns and descriptions into a page
without escaping. Here all of that is escaped, and the policy of a page allows no script. Great
Expectations loads these classes by name, from the project's great_expectations.yml.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, cast
from urllib.parse import quote

from great_expectations.core.expectation_validation_result import (
    expectationSuiteValidationResultSchema,
)
from great_expectations.render.components import RenderedComponentContent
from great_expectations.render.renderer.page_renderer import (
    ExpectationSuitePageRenderer,
    ValidationResultsPageRenderer,
)
from great_expectations.render.renderer.renderer import Renderer
from great_expectations.render.view.view import DefaultJinjaPageView
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, pass_context
from markupsafe import Markup

from evenflow.gates import sheet
from evenflow.schemas.guards import is_list, is_mapping

logger = logging.getLogger(__name__)

# Great Expectations writes styles into its tags
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class OfflinePageView(DefaultJinjaPageView):
    """A page of validation results, or of a suite."""

    _template = "data_docs_page.j2"
    # By class: Great Expectations makes views anew for each page, and templates take longer to
    # compile than to fill
    _environments: ClassVar[dict[type, Environment]] = {}

    def __init__(
        self, custom_styles_directory: str | None = None, custom_views_directory: str | None = None
    ):
        """Prepare the environment of the templates.

        Args:
            custom_styles_directory: Folder of other styles, for Great Expectations.
            custom_views_directory: Folder of other templates, for Great Expectations.
        """
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            custom_styles_directory, custom_views_directory
        )
        if found := self._environments.get(type(self)):
            self.env = found
            return
        self._environments[type(self)] = self.env
        assert self.env.loader is not None
        pages = FileSystemLoader([Path(__file__).parent, sheet.FOLDER])
        self.env.loader = ChoiceLoader([pages, self.env.loader])
        self.env.autoescape = True
        cast("dict[str, Any]", self.env.globals)["POLICY"] = POLICY  # pyright: ignore[reportUnknownMemberType]
        # These filters return HTML made of styles that Great Expectations itself sets. The
        # templates escape what the other filters return.
        filters = cast("dict[str, Any]", self.env.filters)  # pyright: ignore[reportUnknownMemberType]
        for name in (
            "render_styling",
            "render_styling_from_string_template",
            "attributes_dict_to_html_string",
        ):
            filters[name] = _marked(filters[name])

    def render_string_template(self, template: Any) -> Any:
        """Render a template of string.Template with its parameters.

        Args:
            template: Mapping with the text and its parameters, or plain text.

        Returns:
            HTML in which the text and the parameters are escaped.
        """
        if not is_mapping(template):
            return template
        # Copies, because the view changes what it renders
        own = {**template, "template": str(Markup.escape(template.get("template") or ""))}
        if "params" in template:
            own["params"] = dict(template["params"])
        own.pop("tooltip", None)  # only a script could show it
        view = cast("Any", super())  # its methods have no types
        return Markup(view.render_string_template(own))

    def render_markdown(self, markdown: Any) -> str:
        """Return notes as they were written, because a suite is not trusted with HTML."""
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
        """Render a block of content, or a list of blocks.

        Args:
            jinja_context: Context of the template.
            content_block: The block, a list of blocks, or a plain value.
            index: Number of the block.
            content_block_id: Id of the block's element.
            render_to_markdown: Whether Markdown is rendered, for Great Expectations.

        Returns:
            HTML; plain values are escaped.
        """
        if is_list(content_block):
            parts = [
                self._item(jinja_context, each, number, content_block_id)
                for number, each in enumerate(content_block)
            ]
            return Markup("").join(parts)
        if not is_mapping(content_block) or "content_block_type" not in content_block:
            return "" if content_block is None else Markup.escape(content_block)
        if content_block["content_block_type"] == "graph":
            return ""  # only a script could draw it
        view = cast("Any", super())  # its methods have no types
        return Markup(
            view.render_content_block(
                jinja_context, content_block, index, content_block_id, render_to_markdown
            )
        )

    def _item(self, jinja_context: Any, item: Any, number: int, block_id: Any) -> Markup:
        """HTML of an item in a list of blocks."""
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
    """A filter whose HTML the templates do not escape."""

    def marked(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        return Markup(result) if isinstance(result, str) else result

    return marked


class Pages:
    """Makes the pages of a site, and notes what the index links to."""

    def __init__(self):
        """Prepare the templates."""
        self._view: Any = OfflinePageView()  # its methods have no types
        self._links: dict[str, list[dict[str, Any]]] = {"suites": [], "validations": []}

    def suite(self, suite: Any) -> str | None:
        """Make the page of a suite.

        Args:
            suite: The suite of Great Expectations.

        Returns:
            The page; None if Great Expectations cannot show the suite.
        """
        link = {
            "expectation_suite_name": suite.name,
            "filepath": quote(f"expectations/{suite.name}.html"),
        }
        return self._made("suites", link, ExpectationSuitePageRenderer(), suite)

    def result(self, path: str, held: dict[str, Any]) -> str | None:
        """Make the page of a suite's result on a pane.

        Args:
            path: Path of the page below the index.
            held: The result, as it is stored.

        Returns:
            The page; None if Great Expectations cannot show the result.
        """
        schema: Any = expectationSuiteValidationResultSchema  # its types are those of any document
        result = schema.load(held)
        run = held["meta"]["run_id"]
        link = {
            "expectation_suite_name": result.suite_name,
            "filepath": quote(path),
            "run_name": run["run_name"],
            "run_time": datetime.fromisoformat(run["run_time"]),
            "validation_success": result.success,
        }
        return self._made("validations", link, ValidationResultsPageRenderer(), result)

    def index(self) -> str:
        """Make the index of the pages that were made, the latest result first."""
        results = sorted(self._links["validations"], key=lambda each: each["run_time"])
        links = {**self._links, "validations": results[::-1]}
        view: Any = OfflineIndexView()  # its methods have no types
        return view.render(links, show_how_to_buttons=False)

    def _made(self, kind: str, link: dict[str, Any], renderer: Any, what: Any) -> str | None:
        """A page of Great Expectations. What it cannot show is left out, and the run goes on."""
        try:
            page = self._view.render(renderer.render(what), show_how_to_buttons=False)
        except Exception as error:
            logger.warning("%s is not shown: %s", link["filepath"], error)
            return None
        self._links[kind].append(link)
        return page


class PaneIndexRenderer(Renderer):
    """The site's index as plain rows, which is all that the view needs."""

    def render(self, index_links_dict: dict[str, Any]) -> dict[str, Any]:
        """Select what the index shows.

        Args:
            index_links_dict: Links that Great Expectations collected.

        Returns:
            The suites and the validations, the latest first.
        """
        return {
            "suites": index_links_dict.get("expectations_links", []),
            "validations": index_links_dict.get("validations_links", []),
        }


class OfflineIndexView(OfflinePageView):
    """The site's index."""

    _template = "data_docs_index.j2"

    def _validate_document(self, document: Any) -> None:
        """Accept what PaneIndexRenderer returns."""
        assert isinstance(document, dict)
