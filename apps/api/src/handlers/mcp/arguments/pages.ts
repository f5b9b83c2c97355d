import { Cursor, pageLimit } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';

const DEFAULT_LIMIT = 20;

/** How a list is read in parts. */
export const pageFields = {
  limit: Type.Optional(pageLimit(DEFAULT_LIMIT)),
  cursor: Type.Optional({ ...Cursor, description: '`nextCursor` of the previous answer' }),
};

export const readPage = ({ limit = DEFAULT_LIMIT, cursor }: { limit?: number; cursor?: string }) => ({
  limit,
  offset: 0,
  ...(cursor !== undefined && { cursor }),
});

/** The lines of a list, and how to read on. */
export function describePage(lines: readonly string[], nextCursor: string | null, none: string): string {
  if (lines.length === 0) return none;
  const more = nextCursor === null ? [] : [`There are more: call again with cursor ${nextCursor}`];
  return [...lines.map((line) => `- ${line}`), ...more].join('\n');
}
