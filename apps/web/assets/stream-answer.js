async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const frames = rest.split('\n\n');
    rest = frames.pop();
    for (const frame of frames) {
      const [, event] = /^event: (.*)$/m.exec(frame) ?? [];
      const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}

/**
 * Sends a form. `onText` gets the answer piece by piece; returns its part of the page, with `isRefused` if there is no answer.
 * Null where only the whole page says what has happened: the form is to be sent without a script.
 */
export async function streamAnswer(form, { submitter = null, signal, onText }) {
  const data = new FormData(form, submitter);
  // A button may be named `action`.
  const response = await fetch(form.getAttribute('action'), {
    method: 'POST',
    headers: { accept: 'text/event-stream' },
    body: form.enctype === 'multipart/form-data' ? data : new URLSearchParams(data),
    signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return null;
  for await (const { event, data } of readEvents(response.body)) {
    if (event === 'content') onText(data.text);
    else if (event === 'done') {
      if (data.html === null) return null;
      return { isRefused: data.isRefused, part: document.createRange().createContextualFragment(data.html) };
    } else if (event === 'error') break;
  }
  throw new Error('The answer has no end.');
}
