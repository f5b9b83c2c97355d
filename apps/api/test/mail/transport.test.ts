import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import t from 'tap';
import { createMail } from '../../src/lib/mail/transport.ts';
import { START } from '../support/context.ts';

const MESSAGE = { id: 'one', at: START, to: 'alice@example.com', subject: 'The news', text: 'Nothing happened.' };
const log = pino({ level: 'silent' });

const PATIENT = { connectMs: 20_000, idleMs: 20_000, totalMs: 20_000 };

type Teardown = { teardown(work: () => Promise<void>): unknown };

/** Sends a mail through `server`, with `credentials` and `options` in its URL. */
async function sendTo(t: Teardown, server: Server, { credentials = '', options = '', patience = PATIENT } = {}) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const smtpUrl = `smtp://${credentials}127.0.0.1:${port}${options}`;
  const mail = createMail({ smtpUrl, from: 'bells@example.com', folder: '' }, log, patience);
  t.teardown(async () => {
    await mail.close();
    server.close();
  });
  return mail.send(MESSAGE);
}

const smtp = (options: SMTPServerOptions) => {
  const server = new SMTPServer({ disableReverseLookup: true, closeTimeout: 1, ...options });
  server.on('error', () => {});
  return server.server;
};

/** A TCP server that ends with the test. */
function scripted(t: Teardown, onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
  });
  return createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
}

t.test('The credentials of SMTP_URL sign in with any characters', async (t) => {
  const seen: unknown[] = [];
  const server = smtp({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      seen.push([username, password]);
      done(null, { user: username });
    },
  });
  const password = encodeURIComponent('p:a/s@s w%rd');
  t.same(await sendTo(t, server, { credentials: `bells%40example.com:${password}@` }), { ok: true });
  t.same(seen, [['bells@example.com', 'p:a/s@s w%rd']]);
});

t.test('Wrong credentials are not a permanent failure, and are not in the error', async (t) => {
  const server = smtp({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('Invalid username or password')),
  });
  const outcome = await sendTo(t, server, { credentials: 'bells:s3cret@' });
  t.match(outcome, { ok: false, permanent: false, error: /^535 / });
  t.notMatch(JSON.stringify(outcome), 's3cret');
});

t.test('An untrusted certificate is refused unless SMTP_URL allows it', async (t) => {
  const received: string[] = [];
  const options: SMTPServerOptions = {
    authOptional: true,
    logger: false,
    onData(stream, { secure }, done) {
      received.push(secure ? 'secure' : 'plain');
      stream.on('end', () => done()).resume();
    },
  };
  t.match(await sendTo(t, smtp(options)), { ok: false, permanent: false, error: /certificate/ });
  t.same(received, []);
  t.same(await sendTo(t, smtp(options), { options: '?tls.rejectUnauthorized=false' }), { ok: true });
  t.same(received, ['secure']);
});

t.test('A server that is silent, slow or closes the connection times out', async (t) => {
  const silent = scripted(t, () => {});
  t.match(await sendTo(t, silent, { patience: { ...PATIENT, connectMs: 300 } }), {
    ok: false,
    permanent: false,
    error: /Greeting never received/,
  });
  const dripping = scripted(t, (socket) => {
    socket.write('220 mail\r\n');
    const drip = setInterval(() => socket.write('250-and\r\n'), 100);
    socket.on('close', () => clearInterval(drip));
  });
  const late = { ok: false, permanent: false, error: 'The mail server did not answer in time.' };
  t.same(await sendTo(t, dripping, { patience: { ...PATIENT, totalMs: 1000 } }), late);
  const rude = scripted(t, (socket) => socket.destroy());
  t.match(await sendTo(t, rude), { ok: false, permanent: false });
});

t.test('A long server response is stored as one line of bounded length', async (t) => {
  const server = scripted(t, (socket) => {
    socket.write(`554-${'no '.repeat(400)}\r\n554 \u0007never\u0000\r\n`);
  });
  const outcome = await sendTo(t, server);
  t.match(outcome, { ok: false, permanent: false, error: /^554/ });
  if (!outcome.ok) t.ok(outcome.error.length <= 500 && !/\p{Cc}/u.test(outcome.error));
});
