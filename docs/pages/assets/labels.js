// The theme's buttons of code blocks are landmarks without a name, which a screen reader cannot tell apart.
// What scrolls sideways can be scrolled by the keyboard.
const named = () => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach(
    (each) => each.setAttribute("aria-label", `Code ${document.querySelectorAll(".md-code__nav[aria-label]").length + 1}`));
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((each) => { each.tabIndex = 0; });
};
new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
named();
