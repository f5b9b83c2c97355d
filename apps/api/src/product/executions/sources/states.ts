import { hash } from 'node:crypto';
import { queryRows, recordset, type TaskSource } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { columnAad, decrypt, encrypt } from '../../../lib/crypto/encryption.ts';

/** What is stored of a source of a task. Everything but the failures is of the last good look. */
export interface SourceState {
  id: string;
  taskId: number;
  name: string;
  definition: string;
  etag: string | null;
  lastModified: string | null;
  digest: string | null;
  completedDigest: string | null;
  completedEntries: string | null;
  bytes: number | null;
  /** In PostgreSQL's format or in ISO 8601. */
  asOf: string | null;
  failuresInRow: number;
}

/** A state after a look, and its text if that is not the stored one. */
export interface ChangedState {
  state: SourceState;
  newText: string | null;
}

/** A hash of the settings of a source: what is stored of other settings is of no use. */
export const hashDefinition = (source: TaskSource): string =>
  hash(
    'sha256',
    JSON.stringify([source.url ?? null, source.select ?? null, source.secret ?? null, source.search ?? null]),
    'base64url',
  );

/** Plan: `task_sources_name`, of the tasks that are due. */
export function loadStates({ db }: Pick<Context, 'db'>, taskIds: readonly number[]): Promise<SourceState[]> {
  return queryRows<SourceState>(
    db,
    sql`
    select id, task_id, name, definition, etag, last_modified, digest, completed_digest, completed_entries, bytes, as_of,
      failures_in_row
    from task_sources where task_id = any(${`{${taskIds.join(',')}}`}::int[])`,
  );
}

/** The last good texts by the name of the source, of those that have the settings of `sources`. */
export async function loadTexts(
  ctx: Pick<Context, 'db' | 'config' | 'log'>,
  taskId: number,
  sources: readonly TaskSource[],
): Promise<Map<string, { digest: string; asOf: string; text: string }>> {
  const stored = await queryRows<{
    id: string;
    name: string;
    definition: string;
    digest: string;
    asOf: string;
    textEncrypted: string;
  }>(
    ctx.db,
    sql`select id, name, definition, digest, as_of, text_encrypted from task_sources
      where task_id = ${taskId} and text_encrypted is not null and digest is not null`,
  );
  const definitions = new Map(sources.map((source) => [source.name, hashDefinition(source)]));
  const texts = new Map<string, { digest: string; asOf: string; text: string }>();
  for (const { id, name, definition, digest, asOf, textEncrypted } of stored) {
    if (definitions.get(name) !== definition) continue;
    try {
      const text = decrypt(ctx.config.encryptionKeys, textEncrypted, columnAad('task_sources.text_encrypted', id));
      texts.set(name, { digest, asOf, text });
    } catch (error) {
      ctx.log.error({ err: error, taskId }, 'the last text of a source cannot be decrypted');
    }
  }
  return texts;
}

/**
 * Stores what looks have found. The caller has locked the tasks. A look that has read no new text keeps the one that is
 * stored, with what belongs to it, unless the settings of the source differ.
 */
export async function storeStates(
  { db, config }: Pick<Context, 'db' | 'config'>,
  changed: readonly ChangedState[],
): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map(({ state, newText }) => ({
    ...state,
    text:
      newText === null
        ? null
        : encrypt(config.encryptionKeys, newText, columnAad('task_sources.text_encrypted', state.id)),
  }));
  const read = (column: string) =>
    sql.raw(`${column} = case when excluded.text_encrypted is not null then excluded.${column}
      when s.definition = excluded.definition then s.${column} end`);
  const kept = (column: string) =>
    sql.raw(`${column} = case when s.definition = excluded.definition then s.${column} end`);
  await db.execute(sql`
    insert into task_sources as s (id, task_id, name, definition, etag, last_modified, digest, text_encrypted, bytes, as_of, failures_in_row)
    select id, task_id, name, definition, etag, last_modified, digest, text, bytes, as_of, failures
    from ${recordset(
      'r',
      rows.map(({ failuresInRow, ...row }) => ({ ...row, failures: failuresInRow })),
      {
        id: 'uuid',
        taskId: 'int',
        name: 'text',
        definition: 'text',
        etag: 'text',
        lastModified: 'text',
        digest: 'text',
        text: 'text',
        bytes: 'int',
        asOf: 'timestamptz',
        failures: 'int',
      },
    )}
    on conflict (task_id, name) do update set definition = excluded.definition, failures_in_row = excluded.failures_in_row,
      id = case when excluded.text_encrypted is not null then excluded.id else s.id end,
      ${read('etag')}, ${read('last_modified')}, ${read('digest')}, ${read('bytes')}, ${read('text_encrypted')},
      as_of = case when excluded.failures_in_row = 0 then excluded.as_of when s.definition = excluded.definition then s.as_of end,
      ${kept('completed_digest')}, ${kept('completed_entries')}`);
}

/** What a run that has completed has read, by task: later looks are compared with it. */
export interface CompletedSource {
  taskId: number;
  name: string;
  definition: string;
  digest: string;
  entries: string | null;
}

/** The caller has locked the tasks. */
export async function storeCompletedSources(
  { db }: Pick<Context, 'db'>,
  completed: readonly CompletedSource[],
): Promise<void> {
  if (completed.length === 0) return;
  await db.execute(sql`
    update task_sources s set completed_digest = c.digest, completed_entries = c.entries
    from ${recordset('c', completed, { taskId: 'int', name: 'text', definition: 'text', digest: 'text', entries: 'text' })}
    where s.task_id = c.task_id and s.name = c.name and s.definition = c.definition`);
}

/** Deletes what is stored of sources that a task does not have any more. */
export async function forgetSources(
  { db }: Pick<Context, 'db'>,
  taskId: number,
  sources: readonly TaskSource[],
): Promise<void> {
  const kept = sources.map((source) => ({ name: source.name, definition: hashDefinition(source) }));
  await db.execute(sql`
    delete from task_sources s where s.task_id = ${taskId} and not exists (
      select from ${recordset('k', kept, { name: 'text', definition: 'text' })} where k.name = s.name and k.definition = s.definition)`);
}
