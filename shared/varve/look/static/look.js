// Keys, copying and the slider's label. Every page works without this file.
"use strict";

function moveAlong(step) {
  const items = [...document.querySelectorAll("[data-item]")];
  if (!items.length) return;
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : items.length - 1) : at + step;
  const item = items[Math.min(items.length - 1, Math.max(0, next))];
  const goal = item.querySelector("a[href]") || item;
  if (goal === item) item.tabIndex = -1;
  goal.focus();
}

function goUp() {
  const up = document.querySelector("link[rel=up]");
  if (up) location.href = up.href;
}

const KEYS = {
  "/": () => document.getElementById("find")?.focus(),
  j: () => moveAlong(1),
  k: () => moveAlong(-1),
  u: goUp,
  "?": () => document.querySelector("nav .last a").click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function addCopyButton(code) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "selected";
    }
  });
  code.after(button);
}

if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach(addCopyButton);

const slider = document.querySelector("[data-days]");
slider?.addEventListener("input", () => {
  const day = new Date((Number(slider.value) - 719163) * 86400000); // ordinal of 1970-01-01
  document.querySelector("[data-day]").textContent = day.toISOString().slice(0, 10);
});
slider?.addEventListener("change", () => slider.form.submit());
