import { isUuid } from '@carillon/contract/validation/formats';
import { endpoints, uploads } from '@carillon/db';
import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { invalidItem } from '../../../errors.ts';
import { isChannel } from '../../deliveries/channels/read.ts';

/** What tasks of a file name: a thing with its id. */
export interface NamedThing {
  id: string;
  name: string;
}

/** The channels of the caller, locked against deletion until the transaction ends. */
export const lockChannels = ({ db }: Context, caller: Caller): Promise<NamedThing[]> =>
  db
    .select({ id: endpoints.id, name: sql<string>`${endpoints.name}` })
    .from(endpoints)
    .where(and(eq(endpoints.userId, caller.id), isChannel))
    .orderBy(endpoints.id)
    .for('key share');

export const listChannels = ({ db }: Context, caller: Caller): Promise<NamedThing[]> =>
  db
    .select({ id: endpoints.id, name: sql<string>`${endpoints.name}` })
    .from(endpoints)
    .where(and(eq(endpoints.userId, caller.id), isChannel));

const BATCH = 1000;

/** The uploads of the caller that have one of the names or ids. */
export async function findUploads({ db }: Context, caller: Caller, given: ReadonlySet<string>): Promise<NamedThing[]> {
  const found: NamedThing[] = [];
  const all = [...given];
  for (let at = 0; at < all.length; at += BATCH) {
    const names = all.slice(at, at + BATCH);
    const ids = names.filter(isUuid);
    found.push(
      ...(await db
        .select({ id: uploads.id, name: uploads.name })
        .from(uploads)
        .where(
          and(
            eq(uploads.userId, caller.id),
            or(inArray(uploads.name, names), ids.length > 0 ? inArray(uploads.id, ids) : undefined),
          ),
        )),
    );
  }
  return found;
}

/** The uploads of the caller with an id of the list, and those of the same names. */
export async function findNamesakes({ db }: Context, caller: Caller, ids: readonly string[]): Promise<NamedThing[]> {
  if (ids.length === 0) return [];
  const names = db
    .select({ name: uploads.name })
    .from(uploads)
    .where(inArray(uploads.id, [...ids]));
  return db
    .select({ id: uploads.id, name: uploads.name })
    .from(uploads)
    .where(and(eq(uploads.userId, caller.id), inArray(uploads.name, names)));
}

/** Returns a function from names or ids to ids. It throws 400 for one that is unknown or ambiguous. */
export function toIds(things: readonly NamedThing[], list: 'channels' | 'attachments') {
  const byName = Map.groupBy(things, ({ name }) => name);
  const known = new Set(things.map(({ id }) => id));
  return (given: readonly string[]): string[] => {
    const ids = given.map((entry, at) => {
      const id = entry.toLowerCase();
      if (known.has(id)) return id;
      const found = byName.get(entry) ?? [];
      if (found.length === 0) throw invalidItem(list, at, `is not the name of one of your ${NOUNS[list]}`);
      if (found.length > 1) throw invalidItem(list, at, `is the name of several ${NOUNS[list]}: give an id`);
      return found[0]!.id;
    });
    return [...new Set(ids)];
  };
}

const NOUNS = { channels: 'channels', attachments: 'files' } as const;

/** Returns a function from ids to names, or to the ids themselves if a name is not unique. Unknown ids are left out. */
export function toNames(things: readonly NamedThing[]) {
  const byId = new Map(things.map((thing) => [thing.id, thing.name]));
  const counts = Map.groupBy(things, ({ name }) => name);
  return (ids: readonly string[]): string[] =>
    ids.flatMap((id) => {
      const name = byId.get(id);
      if (name === undefined) return [];
      return isUuid(name) || counts.get(name)!.length > 1 ? id : name;
    });
}
