import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../../../context.ts';
import { type JsonObject, parseJson, toObject } from '../../../lib/egress/exchange.ts';
import { cleanLine, cutText } from './format/text.ts';
import type { SendOutcome } from './sender.ts';

const MAX_ERROR_LENGTH = 300;
const MAX_RETRY_AFTER_MS = 24 * 60 * 60_000;
/** Shorter parts of an address are words such as `hooks`. */
const MIN_SECRET_LENGTH = 8;

interface TargetPost {
  url: string;
  /** Sent as JSON, or a string as it is with the `content-type` of `headers` (default: plain text). */
  body: object | string;
  headers?: Record<string, string>;
  /** What the error must not contain, besides the parts of the URL. */
  secrets?: readonly string[];
  signal?: AbortSignal | undefined;
}

/** What a kind reads in an answer. Fields that are left out follow from the status. */
export interface AnswerReading {
  /** What the target says is wrong; null if the message was accepted. */
  error?: string | null;
  /** Besides the header `Retry-After`, which is read for every kind. */
  retryAfterMs?: number | undefined;
  isGone?: boolean;
}

type ReadAnswer = (status: number, headers: IncomingHttpHeaders, body: string) => AnswerReading;

/** Posts a message once. Never rejects. Errors are one line and have no secret. */
export async function postToTarget(ctx: Context, post: TargetPost, readAnswer: ReadAnswer): Promise<SendOutcome> {
  const { url, body, headers, secrets = [], signal } = post;
  const isText = typeof body === 'string';
  const { answer, ...outcome } = {
    answer: undefined,
    ...(await ctx.http.post({
      url,
      headers: {
        'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
        'user-agent': 'Carillon-Channel/1.0',
        ...headers,
      },
      body: isText ? body : JSON.stringify(body),
      keepsAnswer: true,
      ...(signal && { signal }),
    })),
  };
  if (outcome.kind !== 'answered' || answer === undefined) return outcome;
  const { status } = outcome;
  const reading = readAnswer(status, answer.headers, answer.body);
  const isRejected = outcome.error !== null || (reading.error ?? null) !== null;
  if (!isRejected) return outcome;
  const said = hideSecrets(cleanLine(reading.error ?? ''), [...findSecrets(url), ...secrets]);
  const error = said === '' ? outcome.error : `The receiver answered ${status}: ${cutText(said, MAX_ERROR_LENGTH)}`;
  const retryAfterMs = reading.retryAfterMs ?? readRetryAfter(answer.headers['retry-after'], ctx.now());
  return {
    ...outcome,
    error: error ?? `The receiver answered ${status}.`,
    ...(retryAfterMs !== undefined && { retryAfterMs: limitWait(retryAfterMs) }),
    ...(reading.isGone && { isGone: true }),
  };
}

/** Seconds or an HTTP date, in milliseconds from `now`. */
function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Other texts, such as `5` with a sign, parse as dates as well.
  const date = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

const limitWait = (ms: number) => Math.min(Math.max(0, Math.ceil(ms)), MAX_RETRY_AFTER_MS);

/** The object that a body is as JSON, or an empty one. */
export const readJson = (body: string): JsonObject => toObject(parseJson(body));

/** The text of an answer that is neither a page nor JSON. */
export const readText = (body: string) => (/^\s*[<{[]/.test(body) ? '' : body);

/** The parts of an address that a target may repeat in its error, the longest first. */
function findSecrets(address: string): string[] {
  const { pathname, search, searchParams, username, password } = new URL(address);
  const segments = pathname.split('/').filter((part) => part.length >= MIN_SECRET_LENGTH);
  const values = [...searchParams.values()].filter((value) => value.length >= MIN_SECRET_LENGTH);
  const whole = [pathname + search, pathname].filter((part) => part.length > 1);
  const credentials = [username, password].filter((part) => part !== '');
  const all = [...whole, ...segments, ...values, ...credentials];
  return [...all, ...all.map(decodeSafely)].toSorted((a, b) => b.length - a.length);
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const hideSecrets = (text: string, secrets: readonly string[]) =>
  secrets.reduce((hidden, secret) => (secret === '' ? hidden : hidden.replaceAll(secret, '…')), text);
