// Keep the conversation fresh without disturbing what is being typed or folded open.
"use strict";
setInterval(async () => {
  const live = document.getElementById("live");
  const answer = await fetch(location.href).catch(() => null);
  if (!answer || !answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
  if (!fresh || fresh.textContent === live.textContent) return;
  const folds = [...live.querySelectorAll("details")].map((each) => each.open);
  const next = [...fresh.querySelectorAll("details")];
  if (next.length === folds.length) next.forEach((each, index) => { each.open = folds[index]; });
  live.replaceWith(fresh);
}, 2000);
