// The theme's buttons of code blocks are landmarks without a name, which a screen reader cannot tell apart.
const named = () => document.querySelectorAll(".md-code__nav:not([aria-label])").forEach(
  (each) => each.setAttribute("aria-label", `Code ${document.querySelectorAll(".md-code__nav[aria-label]").length + 1}`));
new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
named();
