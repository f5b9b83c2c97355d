import { createHash } from 'node:crypto';

/** Length and hash of some bytes. */
export interface Digest {
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
}

export interface DigestBuilder {
  add(bytes: Uint8Array | string): void;
  build(): Digest;
}

export function startDigest(): DigestBuilder {
  const hash = createHash('sha256');
  let length = 0;
  return {
    add(bytes) {
      hash.update(bytes);
      length += Buffer.byteLength(bytes);
    },
    build: () => ({ bytes: length, sha256: hash.digest('hex') }),
  };
}

export function buildDigest(bytes: Uint8Array): Digest {
  const digest = startDigest();
  digest.add(bytes);
  return digest.build();
}

export const isSameDigest = (a: Digest, b: Digest) => a.bytes === b.bytes && a.sha256 === b.sha256;
