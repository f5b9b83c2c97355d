import t from 'tap';
import { startTestAi, toFailure } from '../support/ai-client.ts';

const refusal = (message: string) => ({ error: { message, type: 'error', code: null } });

t.test('A message is one clean line of at most 500 characters', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const message of ['x'.repeat(100_000), `${'x '.repeat(300)}😀`, `a\u0000b\uD800c\r\nd\u001b[31m\te`]) {
    server.answer(() => ({ status: 400, body: refusal(message) }));
    const shown = toFailure(await ask()).message;
    t.ok(shown.length <= 500, `${shown.length} code units`);
    t.ok(shown.isWellFormed());
    t.notMatch(shown, /\p{Cc}/u);
  }
});

t.test('No key that was sent is repeated in a message', async (t) => {
  const apiKey = 'sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789';
  const own = 'or-v1-zyxwvutsrqponmlkjihgfedcba9876543210';
  const odd = 'Zm9vYmFyYmF6cXV4cXV1eGNvcmdl';
  for (const key of [apiKey, own, odd]) {
    const { server, ask } = await startTestAi(t, { apiKey });
    for (const message of [
      `Incorrect API key provided: ${key}. You can find yours at the site.`,
      `Incorrect API key provided: ${key.slice(0, 11)}***************${key.slice(-4)}.`,
      `Key "${key.slice(0, 16)}..." is unknown`,
      `Key …${key.slice(-10)} is unknown`,
      `Header was Authorization: Bearer ${key}`,
      `{"headers":{"authorization":"Bearer ${key}"}}`,
      `lower ${key.toLowerCase()} case`,
      `${'x'.repeat(480)} ${key}`,
    ]) {
      server.answer(() => ({ status: 401, body: refusal(message) }));
      const found = toFailure(await ask(key === apiKey ? {} : { apiKey: key }));
      t.equal(found.errorCode, 'AUTHENTICATION_FAILED');
      for (const part of [key.slice(0, 11), key.slice(-8)]) {
        t.notOk(found.message.toLowerCase().includes(part.toLowerCase()), found.message);
      }
    }
  }
});

t.test('Anything that looks like a key is masked, even if it is another one', async (t) => {
  const { server, ask } = await startTestAi(t, { apiKey: 'operator-key-1' });
  for (const key of [
    'sk-ant-api03-QwErTyUiOp',
    'AIzaSyD-1234567890',
    'gsk_abcdefghijk',
    'ab********yz',
    'Bearer abc.def.ghi',
  ]) {
    server.answer(() => ({ status: 400, body: refusal(`Upstream refused ${key} today.`) }));
    const { message } = toFailure(await ask());
    t.match(message, /: Upstream refused \[key\] today\.$/);
  }
});

t.test('A message does not repeat the prompt or an attached text', async (t) => {
  const prompt = `The password of the vault is ${'swordfish-'.repeat(3)}and nobody\nmay ever know it.`;
  const note = 'Meeting minutes: the merger with Initech is planned for March.';
  const attachments = [{ name: 'note.txt', mediaType: 'text/plain', data: new TextEncoder().encode(note) }];
  const { server, ask } = await startTestAi(t);
  for (const message of [`Cannot parse: ${prompt}`, `Near "${prompt.slice(12, 60)}"`, `In ${note} at 7`]) {
    server.answer(() => ({ status: 400, body: refusal(message) }));
    const shown = toFailure(await ask({ prompt, attachments })).message;
    t.notMatch(shown, /swordfish|nobody|merger|Initech/);
    t.match(shown, '[prompt]');
  }
});

t.test('The message for a very long prompt is built quickly', async (t) => {
  const { server, ask } = await startTestAi(t);
  const prompt = 'the quick brown fox '.repeat(50_000);
  server.answer(() => ({ status: 400, body: refusal('the quick brown cat '.repeat(1000)) }));
  const { durationMs } = await ask({ prompt });
  t.ok(durationMs < 1000, `${durationMs} ms`);
});
