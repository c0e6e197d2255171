// Lets annotators judge by keyboard. Answers are sent without leaving the page, so that an answer is not lost if it
// cannot be saved.
"use strict";

const main = document.getElementById("main");
let saving = false;

const judging = () => document.querySelector("form.judging");
const fieldsets = () => [...document.querySelectorAll("form.judging .question")];
const unanswered = () => fieldsets().filter((one) => !one.querySelector("input:checked"));

function markActive() {
  const [first] = unanswered();
  for (const one of fieldsets()) one.classList.toggle("active", one === first);
}

function say(text) {
  const said = document.getElementById("said");
  said.textContent = text;
  said.hidden = !text;
}

// Replace the current content with the content of the page that the server has sent, without a page load.
function show(html, address) {
  const read = new DOMParser().parseFromString(html, "text/html");
  const open = document.getElementById("guidelines")?.open;
  main.replaceChildren(...read.getElementById("main").childNodes);
  document.title = read.title;
  const guidelines = document.getElementById("guidelines");
  if (guidelines && open !== undefined) guidelines.open = open;
  if (address !== location.href) history.replaceState(null, "", address);
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
  document.querySelector(".response")?.scrollIntoView({ block: "nearest", behavior: "instant" });
  markActive();
}

async function send(form, button) {
  if (saving) return;
  saving = true;
  const data = new URLSearchParams(new FormData(form, button));
  try {
    const answer = await fetch(form.getAttribute("action") ?? location.href, { method: "POST", body: data });
    const text = await answer.text();
    if (answer.ok) {
      show(text, answer.url);
    } else {
      const page = new DOMParser().parseFromString(text, "text/html");
      say(`Not saved: ${(page.querySelector("[role=alert]") ?? page.body).textContent.trim()}`);
    }
  } catch {
    say("Not saved: graphneg serve does not answer. Start it again and open the address that it prints.");
  } finally {
    saving = false;
  }
}

function choose(key) {
  const [active] = unanswered();
  if (!active) return false;
  const inputs = [...active.querySelectorAll("input")];
  const chosen = inputs.find((input) => input.dataset.key === key || input.dataset.digit === key);
  if (!chosen) return false;
  chosen.checked = true;
  finish();
  return true;
}

// Mark the next question, or send the form if all questions are answered.
function finish() {
  markActive();
  const form = judging();
  if (!unanswered().length) form.requestSubmit(form.querySelector("button"));
}

function pressed(key) {
  const form = judging();
  if (!form) return false;
  if (choose(key)) return true;
  const button = form.querySelector(`button[data-key="${CSS.escape(key)}"]`);
  if (button) button.click();
  else if (key === "c") form.querySelector("textarea")?.focus();
  else if (key === "g") document.getElementById("guidelines")?.toggleAttribute("open");
  else if (key === "Enter") form.requestSubmit(form.querySelector("button"));
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || saving) return;
  const at = event.target;
  if (at.matches("textarea, select, input:not([type=radio])")) {
    if (event.key === "Escape") main.focus();
    return;
  }
  if (event.key === "Enter" && at.matches("a, button, summary")) return;
  if (pressed(event.key.length === 1 ? event.key.toLowerCase() : event.key)) event.preventDefault();
});

document.addEventListener("click", (event) => {
  // Do not send the form when the visitor only moves among the answers with the arrow keys. In this case, detail is 0.
  if (event.detail && event.target.closest("form.judging .answer")) setTimeout(finish);
});
document.addEventListener("change", markActive);

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches(".judging")) {
    event.preventDefault();
    send(form, event.submitter);
  } else if (form.matches(".importing")) {
    event.preventDefault();
    const [file] = form.elements.file.files;
    const query = new URLSearchParams({ name: file.name, annotator: form.elements.annotator.value });
    const answer = await fetch(`${form.getAttribute("action")}?${query}`, { method: "POST", body: file });
    const text = await answer.text();
    if (answer.ok) return void say(`${text}. Reload the page to see the new results.`);
    const page = new DOMParser().parseFromString(text, "text/html");
    say(`Not imported: ${(page.querySelector("[role=alert]") ?? page.body).textContent.trim()}`);
  }
});

markActive();
