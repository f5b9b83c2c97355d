import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A mail as its reader sees it, and as it came over the wire. */
export interface ReceivedMail extends Email {
  envelope: { from: string; to: string[] };
  raw: string;
}

export interface MailServer {
  /** What `SMTP_URL` takes. */
  url: string;
  /** What was delivered, oldest first. */
  received: ReceivedMail[];
  /** What to answer to a mail from now on: it is taken unless told. `hang` never answers. */
  answer(to: 'take' | 'hang' | { at: 'RCPT' | 'DATA' | 'MAIL'; code: number; text: string }): void;
  /** Calls `during` with a mail that was taken, before the sender is told so. */
  beforeAccepting(during: () => Promise<void>): void;
  /** Goes away, together with its connections. */
  stop(): Promise<void>;
  /** Comes back under the same address. */
  start(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** A real SMTP server that keeps what it takes; it goes away at the end of `t`. */
export async function startMailServer(t: Test): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let reply: Parameters<MailServer['answer']>[0] = 'take';
  let during = async () => {};
  let port = 0;
  let server: SMTPServer | null = null;

  const refusalAt = (at: string) =>
    typeof reply === 'object' && reply.at === at
      ? Object.assign(new Error(reply.text), { responseCode: reply.code })
      : null;

  async function start() {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      closeTimeout: 1,
      onMailFrom: (_address, _session, done) => done(refusalAt('MAIL')),
      onRcptTo: (_address, _session, done) => done(refusalAt('RCPT')),
      async onData(stream, { envelope }, done) {
        const bytes = await buffer(stream);
        if (reply === 'hang') return;
        const refusal = refusalAt('DATA');
        if (refusal) return done(refusal);
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ ...(await PostalMime.parse(bytes)), envelope: { from, to }, raw: bytes.toString() });
        await during();
        done();
      },
    });
    // Connections that are cut, by the tests among others.
    server.on('error', () => {});
    const listening = server.listen(port, '127.0.0.1');
    await once(listening, 'listening');
    port = (listening.address() as AddressInfo).port;
  }

  async function stop() {
    const stopped = server;
    server = null;
    if (stopped) await new Promise<void>((resolve) => stopped.close(resolve));
  }

  await start();
  t.teardown(stop);
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    answer: (to) => {
      reply = to;
    },
    beforeAccepting: (work) => {
      during = work;
    },
    stop,
    start,
  };
}

/** The reset link of a mail: the only address in it. */
export function getResetLink({ text }: Pick<ReceivedMail, 'text'>): string {
  const links = text?.match(/https?:\S+/g) ?? [];
  if (links.length !== 1) throw new Error(`There are ${links.length} links in the mail.`);
  return links[0] as string;
}

/** The token of a reset mail, as whoever follows the link has it. */
export const getResetToken = (mail: Pick<ReceivedMail, 'text'>): string =>
  new URL(getResetLink(mail)).pathname.split('/').at(-1) as string;
