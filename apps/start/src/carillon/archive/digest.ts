import { createHash } from 'node:crypto';
import type { Written } from './format.ts';

/** Adds up what goes by. */
export interface Digest {
  add(bytes: Uint8Array | string): void;
  result(): Written;
}

export function startDigest(): Digest {
  const hash = createHash('sha256');
  let length = 0;
  return {
    add(bytes) {
      hash.update(bytes);
      length += Buffer.byteLength(bytes);
    },
    result: () => ({ bytes: length, sha256: hash.digest('hex') }),
  };
}

export function digestOf(bytes: Uint8Array): Written {
  const digest = startDigest();
  digest.add(bytes);
  return digest.result();
}
