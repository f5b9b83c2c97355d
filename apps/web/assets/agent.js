// Shows the answer while it is written. The page works without it.
const form = document.querySelector('#ask');
const box = form.querySelector('textarea');
const send = form.querySelector('.primary');
const stop = document.querySelector('#stop');
const problem = document.querySelector('#problem');
const conversation = document.querySelector('#conversation');
const template = document.querySelector('#turn');
const texts = JSON.parse(form.dataset.texts);

let abort = null;

function showProblem(text) {
  problem.replaceChildren();
  if (text === null) return;
  const notice = document.createElement('div');
  notice.className = 'notice';
  notice.setAttribute('role', 'alert');
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  notice.append(paragraph);
  problem.append(notice);
}

function describeError(body) {
  if (body?.code === 'RATE_LIMIT_EXCEEDED') return texts.tooManyMessages.replace('{wait}', `${body.retryAfter} s`);
  return body?.message ?? body?.error ?? texts.noAnswer;
}

async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const frames = held.split('\n\n');
    held = frames.pop();
    for (const frame of frames) {
      const [, event] = /^event: (.*)$/m.exec(frame) ?? [];
      const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}

/** Returns the complete answer. `onText` gets it piece by piece. */
async function ask(message, signal, onText) {
  const response = await fetch('/api/agent/process?propose=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ message }),
    signal,
  });
  if (response.status === 401) location.reload();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const body = await response.json();
    if (response.ok) return body;
    throw new Error(describeError(body));
  }
  for await (const { event, data } of readEvents(response.body)) {
    if (event === 'content') onText(data.text);
    else if (event === 'done') return data;
    else if (event === 'error') throw new Error(describeError(data));
  }
  throw new Error(describeError(null));
}

/** The answer as the server renders it, with its suggestions. */
async function render(message, { response, suggestions, proposal }) {
  const fields = new URLSearchParams({
    _csrf: form.elements._csrf.value,
    asked: message,
    content: response.content,
    model: response.model,
    input: response.tokensUsed.input,
    output: response.tokensUsed.output,
    ms: response.processingTimeMs,
  });
  for (const one of suggestions) fields.append('suggestion', one);
  if (proposal) fields.append('proposal', proposal.id);
  const headers = { 'hx-request': 'true' };
  const answer = await fetch('/agent/answer', { method: 'POST', headers, body: fields });
  if (!answer.ok) throw new Error(texts.notShown);
  return document.createRange().createContextualFragment(await answer.text());
}

function addTurn(message) {
  conversation.querySelector('.examples')?.remove();
  conversation.append(template.content.cloneNode(true));
  const turn = conversation.lastElementChild;
  turn.querySelector('.asked').textContent = message;
  turn.scrollIntoView({ block: 'nearest' });
  return turn;
}

async function submit(message) {
  abort = new AbortController();
  showProblem(null);
  const turn = addTurn(message);
  const text = turn.querySelector('.answer');
  const state = turn.querySelector('[data-state]');
  stop.hidden = false;
  if (document.activeElement === send) stop.focus();
  send.disabled = true;
  try {
    const answer = await ask(message, abort.signal, (piece) => text.append(piece));
    turn.replaceWith(await render(message, answer));
    box.value = '';
  } catch (error) {
    turn.removeAttribute('aria-busy');
    if (abort.signal.aborted) state.textContent = texts.stopped;
    else {
      showProblem(error.message);
      if (text.textContent === '') turn.remove();
      else state.textContent = texts.incomplete;
    }
  }
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
