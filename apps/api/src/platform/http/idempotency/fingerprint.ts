import { createHash } from 'node:crypto';

/** The SHA-256 of a parsed body, regardless of the order of its fields. The depth of bodies is limited before. */
export const buildFingerprint = (body: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(body, sortFields) ?? '')
    .digest('base64url');

const sortFields = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
