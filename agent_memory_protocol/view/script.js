"use strict";
// Reading needs nothing of this. It filters the page as one types, and copies commands.

const live = document.body.dataset.live;
const found = document.getElementById("found");
const query = document.getElementById("query");
let cards = [];
let texts = new Map();

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
  found.textContent = words.length ? `${shown} of ${cards.length} match` : "";
}

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

function start() {
  cards = [...document.querySelectorAll(".card")];
  texts = new Map();
  for (const one of document.querySelectorAll(".command")) {
    one.append(copyButton(one.querySelector("code").textContent));
  }
  if (!live) for (const card of document.querySelectorAll(".card[data-id]")) card.tabIndex = 0;
  if (query) filter();
}

const verbs = {
  Edit: (id) => `amp edit ${id} 'NEW TEXT'`,
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

// What other programs write appears by itself, where nobody is writing.
async function refresh() {
  if (document.activeElement.matches("main input")) return;
  const answer = await fetch(`/?quiet&${location.search.slice(1)}`);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  const open = new Set([...document.querySelectorAll("details[open]")].map((one) => one.parentElement.id));
  const notice = document.querySelector(".notice");
  if (notice) fresh.prepend(notice);
  document.querySelector("main").replaceWith(fresh);
  for (const one of document.querySelectorAll("details")) one.open = open.has(one.parentElement.id);
  start();
}

start();
if (!live) {
  document.addEventListener("focusin", offer);
  document.addEventListener("pointerover", offer);
}
if (query) {
  document.getElementById("search").hidden = false;
  query.addEventListener("input", filter);
  if (live) new EventSource(live).addEventListener("message", refresh);
}
