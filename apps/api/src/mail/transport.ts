import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toStorableText } from '@carillon/db/storable-text';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** A mail as it leaves. Whatever its fields hold, it has one recipient and no headers but ours. */
export interface Message {
  /** The same for every attempt at the same text, so that a mail which arrives twice is shown once. */
  id: string;
  at: Date;
  to: string;
  subject: string;
  text: string;
  /** The link of the text, for the log of a development that sends nothing. */
  link?: string;
}

/** `permanent`: no repeat can mend it. `error` is one line in the mail server's words. */
export type MailOutcome = { ok: true } | { ok: false; permanent: boolean; error: string };

/** The way out for mail. Failure is a value: it is stored and retried. */
export interface Mail {
  /** Resolves when the mail server has answered for the mail, or after 30 s, or when `signal` aborts. */
  send(message: Message, signal?: AbortSignal): Promise<MailOutcome>;
  close(): Promise<void>;
}

/** How long the mail server is waited for, in milliseconds: until it is connected, between its lines, for a whole mail. */
export interface MailPatience {
  connectMs: number;
  silenceMs: number;
  totalMs: number;
}
const PATIENCE: MailPatience = { connectMs: 10_000, silenceMs: 20_000, totalMs: 30_000 };

/**
 * Sends through the server of `SMTP_URL` over a few connections that are kept open. Without one each mail is written to
 * `DATA_DIR/mail`, and its link is logged: no other place may do that, and production never comes here (decisions §1).
 */
export function createMail(settings: Config['mail'], log: Logger, patience: MailPatience = PATIENCE): Mail {
  const { smtpUrl, from, folder } = settings;
  return smtpUrl === null ? mailToFolder(folder, from, log) : mailToServer(smtpUrl, from, patience);
}

function mailToServer(url: string, from: string, { connectMs, silenceMs, totalMs }: MailPatience): Mail {
  const transport = createTransport({
    url,
    pool: true,
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    // The queue repeats what failed; only a connection that was lost while it was idle is worth another try at once.
    maxRequeues: 1,
    ...SAFETY,
  });
  // Each mail has its own outcome; without a listener an error of a connection that idles would end the process.
  transport.on('error', () => {});
  return {
    async send(message, stop) {
      // Silence is not enough: a server that drips its answers is never silent for long.
      const deadline = AbortSignal.timeout(totalMs);
      const signal = stop ? AbortSignal.any([deadline, stop]) : deadline;
      try {
        await transport.sendMail({ ...headersOf(message, from), text: message.text, signal });
        return { ok: true };
      } catch (error) {
        return describeFailure(error as SmtpError, deadline.aborted);
      }
    },
    async close() {
      transport.close({ force: true });
    },
  };
}

function mailToFolder(folder: string, from: string, log: Logger): Mail {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows', ...SAFETY });
  // Long lines would be broken: whoever opens the file shall find the link in one piece.
  transport.use('stream', ({ message }, done) => {
    message.getTransferEncoding = () => '8bit';
    done();
  });
  return {
    async send(message) {
      const name = `${message.at.toISOString().replaceAll(':', '-')}-${message.id}.eml`;
      try {
        const { message: bytes } = await transport.sendMail({ ...headersOf(message, from), text: message.text });
        await mkdir(folder, { recursive: true });
        // Under a name of its own first: whoever watches the folder finds no half of a mail.
        await writeFile(join(folder, `.${name}`), bytes, { mode: 0o600 });
        await rename(join(folder, `.${name}`), join(folder, name));
      } catch (error) {
        return { ok: false, permanent: false, error: oneLine((error as Error).message) };
      }
      log.info({ file: join(folder, name), link: message.link }, 'mail written: SMTP_URL is not set');
      return { ok: true };
    },
    async close() {},
  };
}

/** No text of a mail is ever taken for the name of a file or an address to fetch. */
const SAFETY = { disableFileAccess: true, disableUrlAccess: true };

function headersOf({ id, at, to, subject }: Message, from: string) {
  const host = from.slice(from.lastIndexOf('@') + 1).replace('>', '');
  return {
    from,
    // As an object: a text would be searched for several addresses.
    to: { name: '', address: to },
    subject,
    date: at,
    messageId: `<${id}@${host}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

interface SmtpError extends Error {
  code?: string;
  command?: string;
  response?: string;
  permanent?: boolean;
}

/**
 * Permanent is what the server says for good of this recipient or this text, and an address that cannot be said in SMTP.
 * Refusals of the sender or the log-in are no fault of the mail: the operator can mend them.
 */
function describeFailure({ code, command, permanent, message, response }: SmtpError, late: boolean): MailOutcome {
  const refused = permanent === true && (command === 'RCPT TO' || command === 'DATA');
  const unspeakable = code === 'EENVELOPE' && command === 'API';
  const said = late ? 'The mail server did not answer in time.' : (response ?? message);
  return { ok: false, permanent: refused || unspeakable, error: oneLine(said) };
}

const oneLine = (text: string) => toStorableText(text.replace(/[\p{Cc}\s]+/gu, ' ').trim(), 500);
