import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toOneLine, toStorableText } from '@carillon/db/storable-text';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** Its fields are untrusted: the mail has one recipient and no other headers than those set here. */
export interface Message {
  /** The same for every attempt at the same text, so that mail programs show a repeated mail once. */
  id: string;
  at: Date;
  to: string;
  subject: string;
  text: string;
  /** For the log in development. */
  link?: string;
}

/** `permanent`: a retry cannot succeed. `error` is one line, in the words of the mail server. */
export type MailOutcome = { ok: true } | { ok: false; permanent: boolean; error: string };

export interface Mail {
  /** Resolves when the mail server has answered, after 30 s, or when `signal` aborts; never rejects. */
  send(message: Message, signal?: AbortSignal): Promise<MailOutcome>;
  close(): Promise<void>;
}

export interface MailTimeouts {
  connectMs: number;
  idleMs: number;
  totalMs: number;
}
const TIMEOUTS: MailTimeouts = { connectMs: 10_000, idleMs: 20_000, totalMs: 30_000 };

/** Without `SMTP_URL`, in development only, each mail is written to `DATA_DIR/mail` and its link is logged. */
export function createMail(settings: Config['mail'], log: Logger, timeouts: MailTimeouts = TIMEOUTS): Mail {
  const { smtpUrl, from, folder } = settings;
  return smtpUrl === null ? mailToFolder(folder, from, log) : mailToServer(smtpUrl, from, timeouts);
}

function mailToServer(url: string, from: string, { connectMs, idleMs, totalMs }: MailTimeouts): Mail {
  const transport = createTransport({
    url,
    pool: true,
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: idleMs,
    // The queue retries; here only a connection that was lost while idle is replaced at once.
    maxRequeues: 1,
    ...NO_FILE_ACCESS,
  });
  // Without a listener the error of an idle connection would end the process.
  transport.on('error', () => {});
  return {
    async send(message, stop) {
      const deadline = AbortSignal.timeout(totalMs);
      const signal = stop ? AbortSignal.any([deadline, stop]) : deadline;
      try {
        await transport.sendMail({ ...buildHeaders(message, from), text: message.text, signal });
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
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows', ...NO_FILE_ACCESS });
  // Other encodings break long lines; in the file the link stays in one piece.
  transport.use('stream', ({ message }, done) => {
    message.getTransferEncoding = () => '8bit';
    done();
  });
  return {
    async send(message) {
      const name = `${message.at.toISOString().replaceAll(':', '-')}-${message.id}.eml`;
      try {
        const { message: bytes } = await transport.sendMail({ ...buildHeaders(message, from), text: message.text });
        await mkdir(folder, { recursive: true });
        // Renamed when complete, so that a program that watches the folder never reads half a mail.
        await writeFile(join(folder, `.${name}`), bytes, { mode: 0o600 });
        await rename(join(folder, `.${name}`), join(folder, name));
      } catch (error) {
        return { ok: false, permanent: false, error: toErrorLine((error as Error).message) };
      }
      log.info({ file: join(folder, name), link: message.link }, 'mail written: SMTP_URL is not set');
      return { ok: true };
    },
    async close() {},
  };
}

/** Keeps nodemailer from reading files or URLs that a text names. */
const NO_FILE_ACCESS = { disableFileAccess: true, disableUrlAccess: true };

function buildHeaders({ id, at, to, subject }: Message, from: string) {
  const host = from.slice(from.lastIndexOf('@') + 1).replace('>', '');
  return {
    from,
    // As an object: a string would be parsed for several addresses.
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

/** A refused sender or login is not permanent: the operator can correct it. */
function describeFailure({ code, command, permanent, message, response }: SmtpError, isLate: boolean): MailOutcome {
  const refused = permanent === true && (command === 'RCPT TO' || command === 'DATA');
  const unaddressable = code === 'EENVELOPE' && command === 'API';
  const text = isLate ? 'The mail server did not answer in time.' : (response ?? message);
  return { ok: false, permanent: refused || unaddressable, error: toErrorLine(text) };
}

const toErrorLine = (text: string) => toStorableText(toOneLine(text), 500);
