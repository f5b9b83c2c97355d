import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '@carillon/api/context';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Progress } from './progress.ts';

const AT_ONCE = 500;
/** An upload takes minutes at most; its row is there before its file. */
const OLD_MS = 24 * 60 * 60 * 1000;

export interface Orphans {
  /** Files that are older than a day and that no row names. */
  found: number;
  removed: number;
  /** True where there are such files and no others: the database is probably not the one that they belong to. */
  refused: boolean;
}

/**
 * Removes the files of the storage in `folder` that are older than a day and that neither an upload nor a loose object
 * names, unless no file at all is named.
 */
export async function removeOrphans(ctx: Context, folder: string, progress: Progress): Promise<Orphans> {
  const orphans: Orphans = { found: 0, removed: 0, refused: false };
  let known = 0;
  for await (const names of listed(folder)) {
    const strangers = await findUnknown(ctx, names);
    known += names.length - strangers.length;
    for (const name of strangers) if (await isOld(ctx, join(folder, name))) orphans.found += 1;
  }
  if (orphans.found === 0) return orphans;
  if (known === 0) return { ...orphans, refused: true };
  for await (const names of listed(folder)) {
    for (const name of await findUnknown(ctx, names)) {
      if (ctx.worker.stopping.aborted) return orphans;
      if (!(await isOld(ctx, join(folder, name)))) continue;
      await rm(join(folder, name));
      orphans.removed += 1;
      progress.show(orphans.removed, orphans.found, 'files that no upload names');
    }
  }
  return orphans;
}

async function* listed(folder: string): AsyncGenerator<string[]> {
  let names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (entry.isFile()) names.push(entry.name);
    if (names.length < AT_ONCE) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}

async function findUnknown({ db }: Context, names: readonly string[]): Promise<string[]> {
  const found = await queryRows<{ name: string }>(
    db,
    sql`
    select listed.name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) listed(name)
    where not exists (select from uploads where uploads.storage_key = listed.name)
      and not exists (select from loose_objects where loose_objects.key = listed.name)`,
  );
  return found.map(({ name }) => name);
}

async function isOld(ctx: Context, path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && ctx.now().getTime() - found.mtimeMs > OLD_MS;
}
