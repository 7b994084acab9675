"use strict";
// Reading needs nothing of this. It filters the page as one types, and copies commands.

const found = document.getElementById("found");
const search = document.getElementById("search");
const query = document.getElementById("query");
const cards = [...document.querySelectorAll(".card")];
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

search.hidden = false;
query.addEventListener("input", filter);
for (const one of document.querySelectorAll(".command")) {
  one.append(copyButton(one.querySelector("code").textContent));
}

const verbs = { Edit: (id) => `amp edit ${id} 'NEW TEXT'`, Forget: (id) => `amp forget ${id}`,
  Dispute: (id) => `amp dispute ${id} OTHER`, Resolve: (id) => `amp resolve ${id} WINNER` };

// The commands of a card are made when a person turns to it: thousands of buttons would slow the page down.
function offer(event) {
  const card = event.target.closest ? event.target.closest(".card[data-id]") : null;
  if (!card || card.querySelector(":scope > .verbs")) return;
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
  textOf(card);
  card.append(line);
}
for (const card of document.querySelectorAll(".card[data-id]")) card.tabIndex = 0;
document.addEventListener("focusin", offer);
document.addEventListener("pointerover", offer);
