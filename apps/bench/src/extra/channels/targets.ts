import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { closeWith } from '../../environment/shutdown.ts';

export type Fate = 'take' | 'limit' | 'fail' | 'cut' | 'hang' | 'gone';

export interface Targets {
  /** Of the chats and of the push servers. */
  url: string;
  smtpUrl: string;
  readonly requests: number;
  /** Requests and mails that are being answered. */
  readonly open: number;
  readonly fates: ReadonlyMap<Fate, number>;
  /** How often each message was accepted. */
  readonly accepted: ReadonlyMap<string, number>;
}

const ANSWER_MS = 40;

/**
 * Starts a web server and a mail server for every kind of channel. `chan7x` in an address, a topic, a key or a token is the
 * number of the channel; `msg7z` in a text is the message. A sixteenth of the channels is gone, another one always fails,
 * the others fail now and then.
 */
export async function startTargets(stack: AsyncDisposableStack): Promise<Targets> {
  const accepted = new Map<string, number>();
  const fates = new Map<Fate, number>();
  let requests = 0;
  let open = 0;

  function decide(channel: string, content: string): Fate {
    requests += 1;
    const number = Number(/chan(\d+)x/.exec(channel)?.[1]);
    if (Number.isNaN(number)) throw new Error(`No channel in ${channel}`);
    const fate = chooseFate(number);
    fates.set(fate, (fates.get(fate) ?? 0) + 1);
    const message = /msg\d+z/.exec(content)?.[0];
    if (fate === 'take' && message) accepted.set(message, (accepted.get(message) ?? 0) + 1);
    return fate;
  }

  const web = createServer(async (request, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const fate = decide(`${request.url} ${body}`, body);
    if (fate === 'hang') return;
    if (fate === 'cut') return void request.socket.destroy();
    setTimeout(() => answer(response, request.url ?? '', fate), ANSWER_MS);
  });
  web.listen(0, '127.0.0.1', 4096);
  await once(web, 'listening');
  closeWith(stack, async () => {
    web.close();
    web.closeAllConnections();
  });

  const mail = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 1,
    onData(stream, { envelope }, done) {
      open += 1;
      text(stream).then((content) => {
        open -= 1;
        const to = envelope.rcptTo[0]?.address ?? '';
        // Notifications about channels that fail go to their owners.
        const fate = to.startsWith('person-') ? 'take' : decide(to, content);
        done(
          fate === 'take' ? null : Object.assign(new Error('Not now'), { responseCode: fate === 'gone' ? 550 : 451 }),
        );
      }, done);
    },
  });
  mail.on('error', () => {});
  const listening = mail.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  closeWith(stack, () => new Promise<void>((resolve) => mail.close(resolve)));

  const portOf = (address: unknown) => (address as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${portOf(web.address())}`,
    smtpUrl: `smtp://127.0.0.1:${portOf(listening.address())}`,
    get requests() {
      return requests;
    },
    get open() {
      return open;
    },
    fates,
    accepted,
  };
}

/** From 0 to 15, other ones for the next channels of a kind. */
export const toTurn = (channel: number): number => (channel + Math.floor(channel / 8)) % 16;

function chooseFate(channel: number): Fate {
  if (toTurn(channel) === 0) return 'gone';
  if (toTurn(channel) === 1) return 'fail';
  const chance = Math.random();
  if (chance < 0.001) return 'hang';
  if (chance < 0.01) return 'limit';
  if (chance < 0.02) return 'cut';
  return chance < 0.05 ? 'fail' : 'take';
}

/** As the Bot API answers, as hooks do, or as ntfy and Apprise do. */
function answer(response: ServerResponse, path: string, fate: Fate): void {
  const [isBot, isHook] = [path.startsWith('/bot'), path.startsWith('/hooks/')];
  const refusal = isBot ? 404 : isHook ? 410 : 403;
  const status = { take: 200, limit: 429, gone: refusal }[fate as string] ?? 500;
  const isOk = status === 200;
  const waits = fate === 'limit' ? { retry_after: 1, parameters: { retry_after: 1 } } : {};
  const body =
    isHook && isOk ? 'ok' : JSON.stringify({ ok: isOk, ...waits, ...(isOk ? { result: {} } : { description: 'No' }) });
  response.writeHead(status, { ...(fate === 'limit' && { 'retry-after': '1' }) }).end(body);
}
