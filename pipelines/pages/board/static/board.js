"use strict";
// Keeps a page up to date: the server says that something changed, and the page is fetched again and
// laid over the one that is shown. What has the focus, is open or was typed stays as it is.
(() => {
  const LEAST = 1000; // ms between two fetches
  const page = document.documentElement;
  const state = document.getElementById("live");
  let version = page.dataset.version;
  let wanted = version;
  let fetched = -Infinity;
  let timer = 0;
  let source = null;
  let clock = null; // the server's clock, and this one's at the same moment

  function overlay(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      old.nodeValue = fresh.nodeValue;
      return;
    }
    for (const {name} of [...old.attributes])
      if (!fresh.hasAttribute(name) && name !== "open" && name !== "tabindex") old.removeAttribute(name);
    for (const {name, value} of [...fresh.attributes])
      if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    const before = [...old.childNodes];
    const after = [...fresh.childNodes];
    after.forEach((child, i) => {
      const own = before[i];
      if (!own) old.append(document.importNode(child, true));
      else if (own.nodeType === child.nodeType && own.nodeName === child.nodeName && own.id === child.id) overlay(own, child);
      else own.replaceWith(document.importNode(child, true));
    });
    before.slice(after.length).forEach((child) => child.remove());
  }

  async function update() {
    timer = 0;
    fetched = performance.now();
    try {
      const answer = await fetch(location.href, {headers: {accept: "text/html"}});
      if (!answer.ok) throw new Error(answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      version = fresh.documentElement.dataset.version;
      overlay(document.querySelector("main"), fresh.querySelector("main"));
      document.title = fresh.title;
      const news = document.getElementById("news");
      const said = fresh.getElementById("news").textContent;
      if (news.textContent !== said) news.textContent = said; // a screen reader reads it
      ages();
      say("live");
    } catch {
      wanted = version; // the next event asks again
      say("away");
    }
  }

  function ask() {
    if (!timer && wanted !== version) timer = setTimeout(update, Math.max(0, fetched + LEAST - performance.now()));
  }

  function say(what) {
    const words = {live: "live", away: "not connected; what is shown may be old"};
    if (state.dataset.state === what) return;
    state.dataset.state = what;
    state.textContent = words[what];
  }

  // Ages by the server's clock, so that a clock that jumps here changes nothing
  function ages() {
    if (!clock) return;
    const now = clock.server + performance.now() - clock.own;
    for (const each of document.querySelectorAll("time[data-at]")) {
      const seconds = Math.round((now - each.dataset.at) / 1000);
      const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([size]) => Math.abs(seconds) >= size) ?? [1, "s"];
      const text = seconds < -5 ? "ahead of the server's clock" : `${Math.max(0, Math.floor(seconds / size))} ${unit} ago`;
      if (each.textContent !== text) each.textContent = text;
    }
  }

  function listen() {
    source = new EventSource(page.dataset.events);
    source.onmessage = (event) => {
      const told = JSON.parse(event.data);
      clock = {server: told.now, own: performance.now()};
      wanted = told.version;
      if (wanted === version) say("live");
      ages();
      ask();
    };
    source.onerror = () => say("away");
  }

  // Within a strip of tiles, arrow keys move; Tab leaves it
  function moves(event) {
    const strip = event.target.closest?.(".strip[role=group]");
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10}[event.key];
    if (!strip) return;
    const tiles = [...strip.querySelectorAll("a")];
    const here = tiles.indexOf(event.target);
    const to = {Home: 0, End: tiles.length - 1}[event.key] ?? (step ? Math.min(Math.max(here + step, 0), tiles.length - 1) : -1);
    if (to < 0) return;
    event.preventDefault();
    tiles.forEach((tile) => tile.setAttribute("tabindex", "-1"));
    tiles[to].setAttribute("tabindex", "0");
    tiles[to].focus();
  }

  function rove() {
    for (const strip of document.querySelectorAll(".strip[role=group]")) {
      const tiles = [...strip.querySelectorAll("a")];
      if (!tiles.some((tile) => tile.getAttribute("tabindex") === "0")) {
        tiles.forEach((tile) => tile.setAttribute("tabindex", "-1"));
        tiles.at(-1)?.setAttribute("tabindex", "0");
      }
    }
  }

  document.addEventListener("keydown", moves);
  rove();
  if (!page.dataset.events) return;
  new MutationObserver(rove).observe(document.querySelector("main"), {childList: true, subtree: true});
  setInterval(ages, 1000);
  listen();
  // A browser has few connections to a server: a tab that nobody sees gives its one back
  document.addEventListener("visibilitychange", () => {
    source.close();
    if (!document.hidden) listen();
  });
})();
