// Shows the answer to a prompt while it arrives. The form works without it.
import { streamAnswer } from '/scripts/stream-answer.js';

const outcome = document.querySelector('#outcome');
const template = document.querySelector('#trial');
let isBusy = false;
/** Sent as a page, because only that says what has happened. */
let isWhole = false;

function showAnswer(form, part) {
  const isRead = outcome.contains(document.activeElement) || document.activeElement === document.body;
  outcome.replaceChildren(part);
  const answer = outcome.querySelector('[data-trial]');
  if (answer) form.elements.after.value = answer.dataset.trial;
  if (isRead) outcome.firstElementChild?.focus();
}

async function tryPrompt(form, submitter) {
  isBusy = true;
  outcome.replaceChildren(template.content.cloneNode(true));
  const panel = outcome.firstElementChild;
  const text = panel.querySelector('.plain-text');
  form.closest('[popover]')?.hidePopover();
  panel.focus();
  try {
    const answer = await streamAnswer(form, { submitter, onText: (piece) => text.append(piece) });
    isWhole = answer === null;
    if (answer) showAnswer(form, answer.part);
  } catch {
    panel.removeAttribute('aria-busy');
    panel.querySelector('.head p').textContent = text.dataset.lost;
  }
  isBusy = false;
  form.dispatchEvent(new Event('carillon:answered'));
  if (isWhole) form.requestSubmit(submitter);
}

document.addEventListener('submit', (event) => {
  const { target, submitter, defaultPrevented } = event;
  if (defaultPrevented || isWhole || submitter?.value !== 'try') return;
  event.preventDefault();
  if (!isBusy) tryPrompt(target, submitter);
});
