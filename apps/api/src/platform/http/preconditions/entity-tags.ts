export interface EntityTag {
  isWeak: boolean;
  /** With the quotes. */
  opaque: string;
}

const ELEMENT = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/gy;

/** What a proxy that compresses adds to a strong ETag: Caddy and Apache do. */
const CODING_SUFFIX = /-(?:gzip|zstd|br|deflate)"$/;

/**
 * Reads `If-Match` or `If-None-Match`, by RFC 9110; null if it is malformed. Ignores the suffix of a content coding, because
 * the state behind both representations is the same.
 */
export function parseEntityTags(header: string): '*' | EntityTag[] | null {
  if (header.trim() === '*') return '*';
  const elements = [...header.matchAll(ELEMENT)];
  const length = elements.reduce((sum, [text]) => sum + text.length, 0);
  const tags = elements.flatMap(([, weak, opaque]) =>
    opaque === undefined ? [] : [{ isWeak: weak !== undefined, opaque: opaque.replace(CODING_SUFFIX, '"') }],
  );
  return length === header.length && tags.length > 0 ? tags : null;
}

/** Compares weakly, as `If-None-Match` does: a proxy that compresses may make a strong ETag weak. */
export const includesTag = (tags: '*' | readonly EntityTag[], etag: string): boolean =>
  tags === '*' || tags.some(({ opaque }) => opaque === etag);
