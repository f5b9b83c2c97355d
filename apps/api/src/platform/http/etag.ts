import { hash } from 'node:crypto';
import { parseId } from '@carillon/contract/validation/formats';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidField } from '../../errors.ts';
import type { ExpectedRevisions } from '../queries/revision.ts';
import { compileSerializer } from './validation.ts';

/** The row that a resource is stored in. */
interface Version {
  id: number | string;
  revision: number;
}

const DIGEST_LENGTH = 11;

type BuildETag = (version: Version, shown: unknown) => string;

/**
 * Builds the ETags of resources with this schema. The digest is of everything that a GET shows, from all tables, in the
 * form of the release. The id keeps the ETags of two resources, and of two users of one browser, apart.
 */
export function createETag(schema: TSchema): BuildETag {
  // Takes a fifth of the time of JSON.stringify, which was 5 % of a read.
  const serialize = compileSerializer({ schema });
  return ({ id, revision }, shown) => {
    const digest = hash('sha256', serialize(shown), 'base64url').slice(0, DIGEST_LENGTH);
    return `"${digest}-${id}-${revision}"`;
  };
}

/** Adds the ETag to the answer of a GET; 304 without a body if the caller has this representation. */
export function sendTagged<B>(request: FastifyRequest, reply: FastifyReply, etag: string, body: B): FastifyReply | B {
  const known = readTags(request, 'If-None-Match');
  // The browser may store it, and has to ask each time.
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  return known !== null && includesTag(known, etag) ? reply.code(304).send() : body;
}

/**
 * The revisions that `If-Match` lets a change start from. Only strong ETags count, and of an ETag the id and the revision:
 * what else is shown, such as statistics, is not what a change would overwrite. Throws 400.
 */
export function readIfMatch(request: Pick<FastifyRequest, 'headers'>, id: number | string): ExpectedRevisions {
  const tags = readTags(request, 'If-Match');
  if (tags === null || tags === '*') return null;
  return tags.flatMap((tag) => findRevision(tag, id) ?? []);
}

function findRevision({ isWeak, opaque }: EntityTag, id: number | string): number | null {
  const version = opaque.slice(DIGEST_LENGTH + 2, -1);
  return !isWeak && version.startsWith(`${id}-`) ? parseId(version.slice(`${id}-`.length)) : null;
}

/** Null without the header. */
function readTags({ headers }: Pick<FastifyRequest, 'headers'>, name: 'If-Match' | 'If-None-Match') {
  const header = headers[name.toLowerCase() as Lowercase<typeof name>];
  if (header === undefined) return null;
  const tags = parseEntityTags(header);
  if (tags === null) throw invalidField(name, 'must be ETags in double quotes, separated by commas, or *');
  return tags;
}

interface EntityTag {
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
