import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '@carillon/api/context';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

const BATCH_SIZE = 500;
/** Files of uploads in progress are younger. */
const MIN_AGE_MS = 24 * 60 * 60 * 1000;

export interface OrphanedFiles {
  found: number;
  removed: number;
  /** Nothing was removed because the database knows none of the files: they may belong to another installation. */
  refused: boolean;
}

/** Removes files of the storage in `folder` that are older than a day and that the database does not know. */
export async function removeOrphanedFiles(
  ctx: Context,
  folder: string,
  onRemove: (removed: number, found: number) => void,
): Promise<OrphanedFiles> {
  const orphans: OrphanedFiles = { found: 0, removed: 0, refused: false };
  let known = 0;
  for await (const names of listBatches(folder)) {
    const unknown = await filterUnknown(ctx, names);
    known += names.length - unknown.length;
    for (const name of unknown) if (await isOld(ctx, join(folder, name))) orphans.found += 1;
  }
  if (orphans.found === 0) return orphans;
  if (known === 0) return { ...orphans, refused: true };
  for await (const names of listBatches(folder)) {
    for (const name of await filterUnknown(ctx, names)) {
      if (ctx.worker.stopping.aborted) return orphans;
      if (!(await isOld(ctx, join(folder, name)))) continue;
      await rm(join(folder, name));
      orphans.removed += 1;
      onRemove(orphans.removed, orphans.found);
    }
  }
  return orphans;
}

async function* listBatches(folder: string): AsyncGenerator<string[]> {
  let names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (entry.isFile()) names.push(entry.name);
    if (names.length < BATCH_SIZE) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}

async function filterUnknown({ db }: Context, names: readonly string[]): Promise<string[]> {
  const found = await queryRows<{ name: string }>(
    db,
    sql`
    select listed.name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) listed(name)
    where not exists (select from uploads where uploads.storage_key = listed.name)
      and not exists (select from orphaned_objects where orphaned_objects.key = listed.name)`,
  );
  return found.map(({ name }) => name);
}

async function isOld(ctx: Context, path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && ctx.now().getTime() - found.mtimeMs > MIN_AGE_MS;
}
