import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail extends Email {
  envelope: { from: string; to: string[] };
  raw: string;
}

export interface MailServer {
  /** For `SMTP_URL`. */
  url: string;
  /** Oldest first. */
  received: ReceivedMail[];
  /** Sets the response to a mail. Default: `take`; `hang` never answers. */
  answer(to: 'take' | 'hang' | { at: 'RCPT' | 'DATA' | 'MAIL'; code: number; text: string }): void;
  /** Calls `during` between storing a mail and answering the sender. */
  beforeAccepting(during: () => Promise<void>): void;
  /** Closes the server and its connections. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** Starts an SMTP server that stores the mails. Stops at the end of `t`. */
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
        // Rejects if the client disconnects.
        const bytes = await buffer(stream).catch(() => null);
        if (bytes === null || reply === 'hang') return;
        const refusal = refusalAt('DATA');
        if (refusal) return done(refusal);
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ ...(await PostalMime.parse(bytes)), envelope: { from, to }, raw: bytes.toString() });
        await during();
        done();
      },
    });
    // Clients that disconnect cause errors.
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

/** Returns the only link of a mail, throws otherwise. */
export function getResetLink({ text }: Pick<ReceivedMail, 'text'>): string {
  const links = text?.match(/https?:\S+/g) ?? [];
  if (links.length !== 1) throw new Error(`There are ${links.length} links in the mail.`);
  return links[0] as string;
}

export const getResetToken = (mail: Pick<ReceivedMail, 'text'>): string =>
  new URL(getResetLink(mail)).pathname.split('/').at(-1) as string;
