// Shows the answer while it is written. The page works without it.
import { streamAnswer } from '/scripts/stream-answer.js';

const form = document.querySelector('#ask');
const box = form.querySelector('textarea');
const send = form.querySelector('.primary');
const stop = document.querySelector('#stop');
const problem = document.querySelector('#problem');
const conversation = document.querySelector('#conversation');
const template = document.querySelector('#turn');
const texts = JSON.parse(form.dataset.texts);

let abort = null;

function addTurn(message) {
  conversation.querySelector('.examples')?.remove();
  conversation.append(template.content.cloneNode(true));
  const turn = conversation.lastElementChild;
  turn.querySelector('.asked').textContent = message;
  turn.scrollIntoView({ block: 'nearest' });
  return turn;
}

function showProblem(text) {
  const notice = document.createElement('div');
  notice.className = 'notice';
  notice.setAttribute('role', 'alert');
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  notice.append(paragraph);
  problem.replaceChildren(notice);
}

/** What has come of an answer that is not complete. */
function endTurn(turn, state) {
  turn.removeAttribute('aria-busy');
  if (turn.querySelector('.answer').textContent === '') turn.remove();
  else turn.querySelector('[data-state]').textContent = state;
}

async function ask(turn, { signal }) {
  const text = turn.querySelector('.answer');
  try {
    const answer = await streamAnswer(form, { signal, onText: (piece) => text.append(piece) });
    // Such as after the end of the session.
    if (answer === null) form.submit();
    else if (answer.isRefused) {
      problem.replaceChildren(answer.part);
      endTurn(turn, texts.incomplete);
    } else {
      turn.replaceWith(answer.part);
      box.value = '';
    }
  } catch {
    if (!signal.aborted) showProblem(texts.noAnswer);
    endTurn(turn, signal.aborted ? texts.stopped : texts.incomplete);
  }
}

async function submit(message) {
  abort = new AbortController();
  problem.replaceChildren();
  stop.hidden = false;
  if (document.activeElement === send) stop.focus();
  send.disabled = true;
  await ask(addTurn(message), abort);
  const hadFocus = document.activeElement === stop;
  send.disabled = false;
  stop.hidden = true;
  abort = null;
  if (hadFocus) box.focus();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (abort === null && box.value.trim() !== '') submit(box.value);
});
stop.addEventListener('click', () => abort?.abort());

conversation.addEventListener('click', (event) => {
  const refused = event.target.closest('button[name="dismiss"]');
  if (refused) {
    event.preventDefault();
    refused.closest('.proposal').remove();
    box.focus();
    return;
  }
  const button = event.target.closest('button[name="message"]');
  if (!button) return;
  event.preventDefault();
  box.value = button.value;
  box.focus();
});
