"use strict";
// Keys for what the page's buttons do. Without it, the buttons work by themselves.
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  const key = CSS.escape(event.key.toLowerCase());
  const button = document.querySelector(`[data-key="${key}"]`);
  const field = document.querySelector(`[data-focus="${key}"]`);
  if (button === null && field === null) return;
  event.preventDefault();
  if (button !== null) button.click();
  else field.select();
});
