import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toOneLine, toStorableText } from '@carillon/contract/validation/unsafe-values';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** Untrusted: the mail has one recipient. */
export interface Message {
  /** The same for each attempt, so that mail programs show one mail. */
  id: string;
  at: Date;
  to: string;
  subject: string;
  text: string;
  /** The same as the text. */
  html?: string;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  link?: string;
}

/** `error` is one line from the mail server; `permanent` excludes a retry. */
export type MailOutcome = { ok: true } | { ok: false; permanent: boolean; error: string };

export interface Mail {
  /** Resolves after 30 s or the abort at the latest; never rejects. */
  send(message: Message, signal?: AbortSignal): Promise<MailOutcome>;
  close(): Promise<void>;
}

interface MailTimeouts {
  connectMs: number;
  idleMs: number;
  totalMs: number;
}
const TIMEOUTS: MailTimeouts = { connectMs: 10_000, idleMs: 20_000, totalMs: 30_000 };

/** In development without `SMTP_URL`, mails are written to `DATA_DIR/mail`. */
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
    // The queue retries. This replaces a connection lost while idle.
    maxRequeues: 1,
    ...NO_FILE_ACCESS,
  });
  // Unhandled, an error of an idle connection would end the process.
  transport.on('error', () => {});
  return {
    async send(message, stop) {
      const deadline = AbortSignal.timeout(totalMs);
      const signal = stop ? AbortSignal.any([deadline, stop]) : deadline;
      try {
        await transport.sendMail({ ...buildMail(message, from), signal });
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
  // Other encodings break the link into lines.
  transport.use('stream', ({ message }, done) => {
    message.getTransferEncoding = () => '8bit';
    done();
  });
  return {
    async send(message) {
      const name = `${message.at.toISOString().replaceAll(':', '-')}-${message.id}.eml`;
      try {
        const { message: bytes } = await transport.sendMail(buildMail(message, from));
        await mkdir(folder, { recursive: true });
        // Renamed when complete: watching programs never read half a mail.
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

/** nodemailer must not read files or URLs that a text names. */
const NO_FILE_ACCESS = { disableFileAccess: true, disableUrlAccess: true };

function buildMail({ id, at, to, subject, text, html, headers }: Message, from: string) {
  const host = from.slice(from.lastIndexOf('@') + 1).replace('>', '');
  return {
    from,
    // A string would be parsed for several addresses.
    to: { name: '', address: to },
    subject,
    date: at,
    messageId: `<${id}@${host}>`,
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    text,
    ...(html !== undefined && { html }),
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
