import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../../lib/crypto/tokens.ts';

export const signBody = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export const isSigned = (secret: string, body: Buffer, signature: unknown): boolean =>
  isSameSecret(signature, signBody(secret, body));

/** What Standard Webhooks sign. Id and time prevent replays. */
export interface SignedMessage {
  id: string;
  at: Date;
  body: string;
}

export function buildStandardHeaders(
  secrets: readonly string[],
  { id, at, body }: SignedMessage,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets
    .flatMap(toSigningKeys)
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** Base64 after `whsec_`; else the bytes of the text (`format: 'raw'`) and, where it can be decoded, base64 too. */
function toSigningKeys(secret: string): Buffer[] {
  if (secret.startsWith('whsec_')) return [Buffer.from(secret.slice('whsec_'.length), 'base64')];
  const raw = Buffer.from(secret);
  return /^[A-Za-z0-9+/]+=*$/.test(secret) ? [raw, Buffer.from(secret, 'base64')] : [raw];
}
