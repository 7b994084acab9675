"use strict";
// Reading needs nothing of this. It searches as one types, copies commands, and shows what others write.

const live = document.body.dataset.live;
const query = document.getElementById("query");
const news = document.getElementById("news");
document.documentElement.classList.add("scripted");

// -- commands to copy --

function copyButton(command) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${command}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy it by hand";
    }
  });
  return button;
}

function offerCommands(within) {
  for (const one of within.querySelectorAll(".command")) {
    one.append(copyButton(one.querySelector("code").textContent));
  }
}

// -- the file: what has all words that are typed stays --

let cards = [];
const texts = new Map();

function textOf(card) {
  if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
  return texts.get(card);
}

function filter() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const card of cards) {
    const fits = words.every((word) => textOf(card).includes(word));
    card.hidden = !fits;
    shown += fits;
  }
  document.body.classList.toggle("filtering", words.length > 0);
  document.getElementById("found").textContent = words.length ? `${shown} of ${cards.length} match` : "";
  mark(words, cards.filter((card) => !card.hidden).slice(0, 200));
}

// The words that match are marked: they are why it was found.
function mark(words, within) {
  if (!window.Highlight) return;
  const ranges = [];
  for (const card of within) {
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data.toLowerCase();
      for (const word of words) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, Math.min(at + word.length, walker.currentNode.data.length));
          ranges.push(range);
        }
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

const verbs = {
  Edit: (id) => `amp edit ${id} 'NEW TEXT'`,
  Date: (id) => `amp edit ${id} --date DATE`,
  Forget: (id) => `amp forget ${id}`,
  Dispute: (id) => `amp dispute ${id} OTHER`,
  Resolve: (id) => `amp resolve ${id} WINNER`,
};

// The commands of a card are made when a person turns to it: thousands of buttons would slow the page down.
function offer(event) {
  const card = event.target.closest ? event.target.closest(".card[data-id]") : null;
  if (!card || card.querySelector(":scope > .verbs")) return;
  textOf(card);
  const line = document.createElement("details");
  line.className = "verbs";
  line.append(Object.assign(document.createElement("summary"), { textContent: "Change" }));
  for (const [verb, command] of Object.entries(verbs)) {
    const row = document.createElement("p");
    const code = document.createElement("code");
    code.textContent = command(card.dataset.id);
    row.append(`${verb}: `, code, copyButton(code.textContent));
    line.append(row);
  }
  card.append(line);
}

function startFile() {
  cards = [...document.querySelectorAll(".card")];
  for (const card of document.querySelectorAll(".card[data-id]")) card.tabIndex = 0;
  document.addEventListener("focusin", offer);
  document.addEventListener("pointerover", offer);
  document.getElementById("search").hidden = false;
  query.addEventListener("input", filter);
  filter();
}

// -- the live page: parts of it are asked for again, and the rest stays as it is --

let latest = 0;
let asking = 0;
let events = null;

function tellStopped() {
  news.textContent = "amp view has stopped. This page shows the memory as it was; start it again to go on.";
}

async function pageAt(address) {
  asking += 1;
  try {
    const answer = await fetch(address);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    tellStopped();
    return null;
  } finally {
    asking -= 1;
  }
}

// Puts a part of a new page in the place of the old one. What was open stays open, and the focus where it was.
function swap(old, fresh) {
  const open = new Set([...old.querySelectorAll("details[open]")].map(nameOf));
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const place = focused && { name: nameOf(focused), number: focusable(focused.closest("[id]") || old).indexOf(focused) };
  old.replaceWith(fresh);
  for (const one of fresh.querySelectorAll("details")) if (open.has(nameOf(one))) one.open = true;
  offerCommands(fresh);
  if (!place) return;
  const around = document.getElementById(place.name) || fresh;
  (focusable(around)[place.number] || around).focus({ preventScroll: true });
}

const nameOf = (element) => (element.closest("[id]") || { id: "" }).id;
const focusable = (element) => [...element.querySelectorAll("a[href], button, input, summary, textarea, [tabindex]")];

// A form that shows what it asks for: while one types, only the parts that it names are another.
function answerAsOneTypes(form) {
  const names = form.dataset.live.split(" ");
  let waiting = 0;
  const ask = async () => {
    const address = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value) address.searchParams.set(name, value);
    const isElsewhere = !names.every((name) => document.getElementById(name));
    const number = ++latest;
    const page = await pageAt(address);
    if (!page || number !== latest) return;
    if (isElsewhere) swap(document.querySelector("main"), page.querySelector("main"));
    for (const name of isElsewhere ? [] : names) {
      const fresh = page.getElementById(name);
      if (fresh) swap(document.getElementById(name), fresh);
    }
    if (isElsewhere) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    document.title = page.title;
    markSearched();
    say(document.querySelector("#found [role=status]"));
  };
  form.addEventListener("input", (event) => {
    if (event.target.type === "range") {
      document.getElementById("chosen").textContent = Number(event.target.value).toLocaleString("en");
    }
    clearTimeout(waiting);
    waiting = setTimeout(ask, 150);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
}

// A screen reader tells what changes in a status, not what it began with.
function say(status) {
  if (!status) return;
  const said = status.textContent;
  status.textContent = "";
  setTimeout(() => (status.textContent = said), 50);
}

function markSearched() {
  const found = document.getElementById("found");
  if (found) mark(query.value.toLowerCase().split(/\s+/).filter(Boolean), [...found.querySelectorAll(".text")]);
}

const isWriting = () => [...document.querySelectorAll("main form[method=post]")].some((form) =>
  [...form.elements].some((field) => field.type === "checkbox" ? field.checked !== field.defaultChecked :
    "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue));

// Says whether somebody is writing here, and then that the page shows what was.
function mustStay() {
  const stays = location.pathname === "/change" || isWriting();
  if (stays) news.textContent = "The memory has changed. This page shows it as it was.";
  return stays;
}

// What others write appears by itself, where nobody is writing.
async function refresh() {
  if (asking) {
    setTimeout(refresh, 300); // what is asked for now comes first
    return;
  }
  if (mustStay()) return;
  const number = ++latest;
  const page = await pageAt(new URL(location.href));
  if (!page || number !== latest || mustStay()) return; // one may have begun to write meanwhile
  const before = new Set([...document.querySelectorAll("main .card[data-id]")].map((card) => card.dataset.id));
  swap(document.querySelector("main"), page.querySelector("main"));
  start();
  const fresh = [...document.querySelectorAll("main .card[data-id]")].filter((card) => !before.has(card.dataset.id));
  if (before.size) for (const card of fresh) card.classList.add("new");
  news.textContent = before.size && fresh.length ? `New here: ${fresh.length}.` : "The memory has changed.";
}

// What check and review say of a document takes longer to find, so it comes after the document.
async function findLater() {
  const link = document.querySelector("main a.later");
  if (!link) return;
  const wanted = ++latest;
  const address = new URL(location.href);
  address.searchParams.set("judged", "1");
  const page = await pageAt(address);
  if (!page || wanted !== latest || !page.getElementById("cards")) return;
  swap(document.querySelector(".column"), page.querySelector(".column"));
  const form = document.querySelector("aside form");
  if (form && !form.elements.judged) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "judged", value: "1" }));
  }
  history.replaceState(null, "", address);
}

function start() {
  for (const form of document.querySelectorAll("main form[data-live]")) answerAsOneTypes(form);
  markSearched();
  findLater();
}

function startLive() {
  answerAsOneTypes(document.querySelector("header form"));
  const told = document.querySelector(".refused, .notice");
  if (told) told.focus({ preventScroll: true });
  start();
  listen();
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("popstate", () => location.reload());
}

// A browser keeps six connections to one server: a tab that nobody sees must not hold one of them.

function listen() {
  if (events) events.close();
  events = document.hidden ? null : new EventSource(live);
  if (!events) return;
  let failures = 0;
  events.addEventListener("message", refresh);
  events.addEventListener("open", () => {
    if (failures > 1) refresh();
    failures = 0;
  });
  // A connection may break once; a server that does not answer a second time has gone.
  events.addEventListener("error", () => {
    failures += 1;
    if (failures > 1 || events.readyState === EventSource.CLOSED) tellStopped();
  });
}

offerCommands(document);
if (live) startLive();
else startFile();
