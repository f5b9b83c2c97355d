import type { FastifyReply } from 'fastify';
import t from 'tap';
import { openEventStream, wantsEvents } from '../../src/platform/http/event-stream.ts';

/** A reply that keeps the stream instead of sending it. */
function sent(events: ReturnType<typeof openEventStream>) {
  let stream: NodeJS.ReadableStream | undefined;
  const reply = {
    type: () => reply,
    header: () => reply,
    send(given: NodeJS.ReadableStream) {
      stream = given;
      return reply;
    },
  };
  events.answer(reply as unknown as FastifyReply);
  return stream as NodeJS.ReadableStream;
}

t.test('Events are for clients that prefer them to JSON', async (t) => {
  for (const [accept, expected] of [
    [undefined, false],
    ['', false],
    ['application/json', false],
    ['*/*', false],
    ['application/*', false],
    ['text/html, */*;q=0.8', false],
    ['text/event-stream', true],
    ['Text/Event-Stream', true],
    ['text/event-stream; charset=utf-8', true],
    ['text/*', true],
    ['text/event-stream, */*;q=0.1', true],
    ['*/*;q=0.1, text/event-stream', true],
    ['text/event-stream, application/json', false],
    ['application/json, text/event-stream', false],
    ['text/event-stream, application/json;q=0.9', true],
    ['text/event-stream;q=0.5, application/json;q=0.9', false],
    ['text/event-stream;q=0', false],
    ['text/*, text/event-stream;q=0', false],
    ['text/event-stream;q=none', false],
    [',;=,q', false],
  ] as const) {
    t.equal(wantsEvents(accept), expected, String(accept));
  }
});

t.test('Text that waits for a slow reader becomes one event', async (t) => {
  const events = openEventStream({ keepAliveMs: 60_000 });
  t.equal(events.hasBegun, false);
  for (const text of ['Titan', ' is', ' "large"\n']) events.addContent(text);
  await events.begun;
  const chunks: string[] = [];
  const stream = sent(events);
  stream.on('data', (chunk) => chunks.push(String(chunk)));
  await new Promise((resolve) => setImmediate(resolve));
  events.addContent('.');
  events.end('done', { success: true });
  await new Promise((resolve) => stream.once('end', resolve));
  t.strictSame(
    chunks.join(''),
    [
      'event: content\ndata: {"text":"Titan is \\"large\\"\\n"}\n\n',
      'event: content\ndata: {"text":"."}\n\n',
      'event: done\ndata: {"success":true}\n\n',
    ].join(''),
  );
});

t.test('A stream writes nothing more for a reader that does not read', async (t) => {
  const events = openEventStream({ keepAliveMs: 1 });
  const stream = sent(events);
  stream.read();
  for (let at = 0; at < 10_000; at += 1) events.addContent(`${at} `);
  await new Promise((resolve) => setTimeout(resolve, 20));
  events.end('done', {});
  let text = '';
  for await (const chunk of stream) text += chunk;
  t.ok(text.split('event: content').length < 5000, 'what waits is gathered');
  const found = [...text.matchAll(/^data: (\{"text".*)$/gm)].map(([, data]) => JSON.parse(data ?? '').text).join('');
  t.equal(found, Array.from({ length: 10_000 }, (_, at) => `${at} `).join(''));
  t.ok(text.endsWith('event: done\ndata: {}\n\n'));
});

t.test('A dropped stream leaves no timer behind', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  for (const end of [
    (events: ReturnType<typeof openEventStream>) => events.drop(),
    (events: ReturnType<typeof openEventStream>) => events.end('done', {}),
  ]) {
    const events = openEventStream({ keepAliveMs: 60_000 });
    t.equal(timers(), before + 1);
    end(events);
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(timers(), before);
  }
});
