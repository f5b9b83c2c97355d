import { CarillonError } from './errors.ts';
import { parseJson } from './request.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** The request is not a genuine, recent delivery: answer it with 401. */
export class WebhookVerificationError extends CarillonError {
  override readonly name = 'WebhookVerificationError';
}

/** The headers of the Fetch API, or of Node.js. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the clocks may differ, and how old a delivery may be. Default: 300. */
  toleranceSeconds?: number | undefined;
}

/**
 * Verifies the signature of a delivery and returns its event. `rawBody` is the body as it was received, `secret` the
 * secret of the webhook, or several. Throws a `WebhookVerificationError`.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0 || !secrets.every(Boolean)) throw new TypeError('secret must not be empty.');
  const body = typeof rawBody === 'string' ? encode(rawBody) : new Uint8Array(rawBody);
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  const isTimed = id !== '' || timestamp !== '' || signatures !== '';
  const isGenuine = isTimed
    ? await hasTimedSignature(signatures, concat(encode(`${id}.${timestamp}.`), body), secrets)
    : await hasBodySignature(readHeader(headers, 'x-webhook-signature'), body, secrets);
  if (!isGenuine) throw new WebhookVerificationError('The signature is missing or wrong.');
  const event = parseJson(new TextDecoder().decode(body)) as WebhookEvent | null | undefined;
  if (typeof event?.event !== 'string') throw new WebhookVerificationError('The body is not an event.');
  // `X-Webhook-Signature` covers only the time of the event: without this check, removing the other headers would allow replays.
  const sentAtMs = isTimed
    ? /^\d{1,12}$/.test(timestamp)
      ? Number(timestamp) * 1000
      : Number.NaN
    : Date.parse(event.timestamp);
  if (!(Math.abs(Date.now() - sentAtMs) <= toleranceSeconds * 1000)) {
    throw new WebhookVerificationError(`The delivery is not from the last ${toleranceSeconds} seconds.`);
  }
  return event;
}

/** `v1,<base64>`, several separated by spaces: https://www.standardwebhooks.com */
async function hasTimedSignature(header: string, signed: Bytes, secrets: readonly string[]): Promise<boolean> {
  const signatures = header
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => decodeBase64(one.slice(3)));
  return matchesAny(signatures, signed, secrets.flatMap(listKeys));
}

/** `sha256=<hex>` of the body, with the text of the secret as key. */
async function hasBodySignature(header: string, body: Bytes, secrets: readonly string[]): Promise<boolean> {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header) ?? [];
  const signature = hex ? Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) : null;
  return matchesAny([signature], body, secrets.map(encode));
}

type Bytes = Uint8Array<ArrayBuffer>;

/** `verify` compares in constant time. */
async function matchesAny(
  signatures: readonly (Bytes | null)[],
  signed: Bytes,
  keys: readonly Bytes[],
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const signature of signatures) {
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true;
    }
  }
  return false;
}

/** Base64 after `whsec_`; a secret of another form is signed with as text and, if it can be decoded, as base64. */
function listKeys(secret: string): Bytes[] {
  const isPrefixed = secret.startsWith('whsec_');
  const decoded = decodeBase64(isPrefixed ? secret.slice('whsec_'.length) : secret);
  return [...(isPrefixed ? [] : [encode(secret)]), ...(decoded?.length ? [decoded] : [])];
}

const encode = (text: string): Bytes => new TextEncoder().encode(text);

/** Also decodes base64 with `-` and `_`. Returns null for other text. */
function decodeBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    return null;
  }
}

function concat(first: Bytes, second: Bytes): Bytes {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function readHeader(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : (found?.[0] ?? '');
}
