import { agentCalls } from '@carillon/db';
import t, { type Test } from 'tap';
import { buildModelAnswer, readMarkerLine, SHORT_TIMEOUTS_PREFIX, testAgent } from '../support/agent.ts';
import { readUsage } from '../support/task-rows.ts';

const { app, ctx, ai, alice, ask, readRecords, readCallsUnderWay } = await testAgent(t, {
  APP_URL: 'https://app.example.com',
});
const url = await app.listen({ port: 0 });
const EVENTS = { accept: 'text/event-stream' };
const usage = { promptTokens: 120, completionTokens: 34 };

interface Event {
  event: string;
  data: Record<string, unknown>;
}

/** Anything else than an event, such as a comment, gets the event name ''. */
const parseEvents = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((block) => {
      const [, event = '', data = 'null'] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return { event, data: JSON.parse(data) };
    });
const contentIn = (events: readonly Event[]) =>
  events
    .filter(({ event }) => event === 'content')
    .map(({ data }) => data.text)
    .join('');

/** A stream over a real connection, which the test can close. */
async function open(t: Test, { path = '/api/agent/process', message = 'Name a moon.' } = {}) {
  const hangUp = new AbortController();
  t.teardown(() => hangUp.abort());
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { ...alice().headers, ...EVENTS, 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
    signal: hangUp.signal,
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (found: (text: string) => boolean): Promise<string> => {
    while (!found(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  return { answer, hangUp: () => hangUp.abort(), until, rest: () => until(() => false) };
}

/** Waits for a condition that no response announces. */
async function until(found: () => Promise<boolean>) {
  while (!(await found())) await new Promise((resolve) => setTimeout(resolve, 10));
}
const isBooked = async () => (await readCallsUnderWay()).length === 0 && (await readRecords()).length > 0;

t.test('A stream sends the content as it arrives and ends with the JSON answer', async (t) => {
  ai.answer(
    buildModelAnswer('Titan, the **largest**.\n\nAnd Rhea.', ['Why?', 'How far?'], { model: 'model-0613', usage }),
  );
  const json = (await ask()).json();
  const answer = await ask(undefined, { headers: EVENTS });
  t.equal(answer.statusCode, 200);
  t.match(answer.headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-ratelimit-limit': String,
    'x-request-id': String,
    'x-content-type-options': 'nosniff',
  });
  const events = parseEvents(answer.body);
  const done = events.pop();
  t.equal(done?.event, 'done');
  const untimed = ({ response, ...rest }: typeof json) => ({ ...rest, response: { ...response, processingTimeMs: 0 } });
  t.strictSame(untimed(done?.data as typeof json), untimed(json));
  t.ok(events.every(({ event }) => event === 'content'));
  t.equal(contentIn(events), 'Titan, the **largest**.\n\nAnd Rhea.');
  t.equal(ai.requests[1]?.body.stream, true);
  const [first, second] = await readRecords();
  t.strictSame(second, first, 'and is recorded as such');
});

t.test('The OpenAPI document describes both forms of the answer', async (t) => {
  const { paths } = (await app.inject('/api/docs/json')).json();
  const { content } = paths['/api/agent/process'].post.responses['200'];
  t.match(content['application/json'].schema.properties, { success: {}, response: {}, suggestions: {} });
  t.match(content['text/event-stream'].schema, { type: 'string', description: /`done`/ });
});

t.test('The web origin may read a stream', async (t) => {
  const answer = await ask(undefined, { headers: { ...EVENTS, origin: 'https://app.example.com' } });
  t.equal(answer.headers['access-control-allow-origin'], 'https://app.example.com');
  t.equal(answer.statusCode, 200);
});

t.test('Content is streamed while the model writes, and never the marker', async (t) => {
  ai.answer((request) => ({
    pieces: ['Titan', '.\n\n', ...readMarkerLine(request).split(/(?<=a|1| )/), '\nWhy?'],
    cut: { after: 4, by: 'stall' },
  }));
  const { answer, until: read, hangUp } = await open(t);
  t.equal(answer.status, 200);
  const text = await read((found) => found.includes('.'));
  t.equal(contentIn(parseEvents(text)), 'Titan.');
  hangUp();
  await until(isBooked);
});

t.test('Reasoning that the model writes into its text is not streamed', async (t) => {
  for (const reasoning of [
    '<think>\nMoons …\n</think>\n\n',
    'Okay, so the user wants a moon.\n</think>\n\n',
    '[THINK]Moons[/THINK]',
  ]) {
    ai.answer((request) => {
      const { text = '' } = buildModelAnswer('Titan has a tag, `</think>`.', ['Why?'])(request);
      return { pieces: [...reasoning, ...text] };
    });
    const events = parseEvents((await ask(undefined, { headers: EVENTS })).body);
    t.equal(contentIn(events), 'Titan has a tag, `</think>`.');
    t.match(events.at(-1), {
      event: 'done',
      data: { response: { content: contentIn(events) }, suggestions: ['Why?'] },
    });
  }
});

t.test('A client that disconnects ends the provider call, which is recorded up to there', async (t) => {
  ai.answer(() => ({ text: 'Titan is the largest moon of Saturn. Rhea', cut: { after: 8, by: 'stall' } }));
  const { until: read, hangUp } = await open(t);
  await read((found) => found.includes('Saturn'));
  t.match(await readCallsUnderWay(), [{ userId: alice().id, tokensReserved: 2048 }]);
  hangUp();
  await ai.requests[0]?.hungUp;
  await until(isBooked);
  t.match(await readRecords(), [{ executions: 1, outputTokens: 9, estimated: true }]);
  t.ok(((await readRecords())[0]?.inputTokens ?? 0) > 100);
  t.match(await readUsage(ctx, alice().id), { executions: 1, tokensReserved: 0 });
});

t.test(
  'A client that disconnects before the first word ends the provider call too, with a stream and without',
  async (t) => {
    for (const accept of ['text/event-stream', 'application/json']) {
      const asked = new Promise<void>((resolve) => {
        ai.answer(() => {
          resolve();
          return { hang: 'head' };
        });
      });
      const hangUp = new AbortController();
      const answer = fetch(`${url}/api/agent/process`, {
        method: 'POST',
        headers: { ...alice().headers, accept, 'content-type': 'application/json' },
        body: '{"message": "Name a moon."}',
        signal: hangUp.signal,
      }).catch(() => null);
      await asked;
      hangUp.abort();
      await ai.requests.at(-1)?.hungUp;
      t.equal(await answer, null);
      await until(isBooked);
    }
    t.match(await readRecords(), Array(2).fill({ outputTokens: 0, estimated: true }));
  },
);

t.test('A failure before the first word is an HTTP error, a later one ends the stream', async (t) => {
  const error = { message: 'Overloaded', type: 'overloaded_error' };
  ai.answer(() => ({ text: 'Titan is', cut: { after: 0, by: { error } } }));
  const refused = await ask(undefined, { headers: EVENTS });
  t.equal(refused.statusCode, 503);
  t.match(refused.headers['content-type'], 'application/json');
  t.match(refused.json(), { details: { errorCode: 'PROVIDER_UNAVAILABLE' } });

  for (const by of [{ error }, 'reset'] as const) {
    ai.answer(() => ({ text: 'Titan is', cut: { after: 2, by } }));
    const answer = await ask(undefined, { headers: EVENTS });
    t.equal(answer.statusCode, 200);
    const events = parseEvents(answer.body);
    const last = events.pop();
    t.equal(last?.event, 'error');
    const { message, ...body } = last?.data ?? {};
    t.type(message, 'string');
    t.strictSame(body, {
      success: false,
      error: 'AI provider failed',
      code: 'AI_PROVIDER_FAILED',
      details: { errorCode: 'PROVIDER_UNAVAILABLE' },
    });
    t.equal(contentIn(events), 'Titan is');
  }
  t.match(await readUsage(ctx, alice().id), { executions: 3, tokensReserved: 0 });
});

t.test('An internal error in a stream ends it without details', async (t) => {
  const { ask: real } = ctx.ai;
  t.teardown(() => {
    ctx.ai.ask = real;
  });
  ctx.ai.ask = async ({ onText }) => {
    onText?.('Titan.');
    throw new Error('a secret');
  };
  const events = parseEvents((await ask(undefined, { headers: EVENTS })).body);
  t.strictSame(events.at(-1), {
    event: 'error',
    data: {
      success: false,
      error: 'Internal server error',
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong on our side.',
    },
  });
  await ctx.db.update(agentCalls).set({ leaseUntil: new Date(0) });
  const { rescueAgentCalls } = await import('../../src/product/agent/calls.ts');
  t.equal(await rescueAgentCalls(ctx), 1, 'and its call is left to the lease');
});

t.test('A silent stream sends keep-alive comments', async (t) => {
  ai.answer(() => ({ hang: 'head' }));
  const { answer, until: read, hangUp } = await open(t, { path: `${SHORT_TIMEOUTS_PREFIX}/api/agent/process` });
  t.equal(answer.status, 200);
  const text = await read((found) => found.split('\n\n').length > 3);
  t.match(text, /^(: keep-alive\n\n){3}/);
  hangUp();
  await until(isBooked);
});

t.test('Concurrent streams do not mix', async (t) => {
  ai.answer(({ body }) => buildModelAnswer(`You said: ${body.messages.at(-1)?.content}`, ['Why?'])({ body }));
  const streams = await Promise.all(
    Array.from({ length: 30 }, async (_, at) => {
      const { rest } = await open(t, { message: `Number ${at}` });
      return parseEvents(await rest());
    }),
  );
  t.strictSame(
    streams.map(contentIn),
    streams.map((_, at) => `You said: Number ${at}`),
  );
  t.match(await readUsage(ctx, alice().id), { executions: 30, tokensReserved: 0 });
});

t.test('A stopping service lets streams end for a while, then ends them with an error', async (t) => {
  ai.answer(({ body }) => {
    const message = body.messages.at(-1)?.content;
    if (message !== 'slow') return { text: 'Titan is large', cut: { after: 2, by: 'stall' } };
    return { text: 'Titan is', drip: { bytes: 400, everyMs: 5 } };
  });
  const [stalled, slow] = await Promise.all([
    open(t, { path: `${SHORT_TIMEOUTS_PREFIX}/api/agent/process` }),
    open(t, { path: `${SHORT_TIMEOUTS_PREFIX}/api/agent/process`, message: 'slow' }),
  ]);
  const closed = app.close();
  t.equal(parseEvents(await slow.rest()).at(-1)?.event, 'done');
  t.match(parseEvents(await stalled.rest()).at(-1), {
    event: 'error',
    data: { details: { errorCode: 'INTERRUPTED' } },
  });
  await closed;
  t.strictSame(await readCallsUnderWay(), []);
  t.match(await readUsage(ctx, alice().id), { executions: 2, tokensReserved: 0 });
});
