import t from 'tap';
import { EventParser } from '../src/event-parser.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function parse(...pieces: (string | Uint8Array)[]) {
  const parser = new EventParser();
  const events = pieces.flatMap((piece) => parser.push(typeof piece === 'string' ? encode(piece) : piece));
  return { events, lastId: parser.lastId, retryMs: parser.retryMs };
}

t.test('A stream means the same for all cuts into pieces and all ends of lines', async (t) => {
  const lines = [
    '\uFEFFretry: 20',
    ': a comment',
    '',
    'id: 7',
    'event: task.failed',
    'data: {"ä":',
    'data:"😀"}',
    '',
    'id',
    'data: x',
    '',
    '',
  ];
  const expected = {
    events: [
      { event: 'task.failed', data: '{"ä":\n"😀"}', id: '7' },
      { event: 'message', data: 'x', id: '' },
    ],
    lastId: '',
    retryMs: 20,
  };
  for (const end of ['\n', '\r\n', '\r']) {
    const bytes = encode(lines.join(end));
    t.same(parse(bytes), expected);
    t.same(parse(...Array.from(bytes, (byte) => Uint8Array.of(byte))), expected, 'byte by byte');
    for (let at = 0; at <= bytes.length; at++) t.same(parse(bytes.subarray(0, at), bytes.subarray(at)), expected);
  }
});

t.test('Malformed parts are left out as the standard says', async (t) => {
  t.same(parse('nonsense\nretry: 5x\nid: 1\0\ndata\n\n').events, [{ event: 'message', data: '', id: '' }]);
  t.same(
    parse('event: done\n\ndata: a\n\n').events,
    [{ event: 'message', data: 'a', id: '' }],
    'an event without data',
  );
  t.same(parse('id: 5\n\n'), { events: [], lastId: '5', retryMs: null }, 'an id without an event');
  t.same(parse('id: 5\ndata: cut off'), { events: [], lastId: '', retryMs: null }, 'an event without its end');
});

t.test('An event without an end does not fill the memory', async (t) => {
  const parser = new EventParser();
  const piece = encode(`data: ${'x'.repeat(1024 * 1024)}\n`);
  t.throws(() => {
    for (let count = 0; count < 40; count++) parser.push(piece);
  }, /too long/);
  const line = encode('x'.repeat(1024 * 1024));
  t.throws(() => {
    for (let count = 0; count < 40; count++) parser.push(line);
  }, /too long/);
});
