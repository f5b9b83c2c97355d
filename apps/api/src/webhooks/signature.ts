import { createHmac, timingSafeEqual } from 'node:crypto';

/** Specification "Authentication" 9: `sha256=<hex>`, the HMAC-SHA256 of the raw body keyed with the secret. */
export const signBody = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Compared in constant time. */
export function isSigned(secret: string, body: Buffer, signature: unknown): boolean {
  const expected = Buffer.from(signBody(secret, body));
  const given = Buffer.from(typeof signature === 'string' ? signature : '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** What the headers of Standard Webhooks sign: id and time too, so that a delivery cannot be replayed (security T28). */
export interface Message {
  id: string;
  at: Date;
  body: string;
}

/** `webhook-id`, `webhook-timestamp` and `webhook-signature`, with a signature by each of `secrets`. */
export function standardHeaders(secrets: readonly string[], { id, at, body }: Message): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets
    .flatMap(keysOf)
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/**
 * What the libraries of Standard Webhooks take a secret for: base64 after `whsec_`. They read any other one as base64
 * too, or as it stands if told so (`format: 'raw'`); it signs for both where it can be read in both ways.
 */
function keysOf(secret: string): Buffer[] {
  if (secret.startsWith('whsec_')) return [Buffer.from(secret.slice('whsec_'.length), 'base64')];
  const raw = Buffer.from(secret);
  return /^[A-Za-z0-9+/]+=*$/.test(secret) ? [raw, Buffer.from(secret, 'base64')] : [raw];
}
