import type postgres from 'postgres';
import t from 'tap';
import { fillEmptyDatabase, type Target } from '../src/backup/restore.ts';
import { readSnapshot, type Snapshot } from '../src/backup/snapshot.ts';
import { readJournal } from '../src/journal.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { emptyDatabase, RELEASES_WITH_DATA } from './empty-database.ts';

const entries = readJournal().entries;

interface Copied {
  name: string;
  columns: string[];
  pieces: Buffer[];
}
interface Copy {
  migration: Snapshot['migration'];
  tables: Copied[];
  partitions: Snapshot['partitions'];
  sequences: Record<string, string>;
  keys: string[];
}

/** All that a snapshot holds, in memory; `during` runs once it has been taken. */
function copyOf(url: string, during = async () => {}): Promise<Copy> {
  return readSnapshot(url, async (snapshot) => {
    await during();
    const tables: Copied[] = [];
    for (const table of snapshot.tables) {
      const pieces: Buffer[] = [];
      for await (const piece of snapshot.copy(table)) pieces.push(piece);
      tables.push({ name: table.name, columns: table.columns, pieces });
    }
    const keys: string[] = [];
    for await (const some of snapshot.uploadKeys()) keys.push(...some);
    const { migration, partitions } = snapshot;
    return { migration, partitions, tables, keys, sequences: await snapshot.sequences() };
  });
}

async function* each<T>(list: readonly T[]) {
  yield* list;
}

async function fill(target: Target, { migration, tables, partitions, sequences }: Copy) {
  const counts: Record<string, number> = {};
  await target.createTables(migration, partitions);
  for (const table of tables) counts[table.name] = await target.fill(table, each(table.pieces));
  await target.setSequences(sequences);
  await target.endLeases();
  await target.upgrade();
  return counts;
}

/** The rows of all tables as text, except what a restore changes. */
async function contentOf(sql: postgres.Sql) {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relpersistence = 'p'
      and not relispartition`;
  const content: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const rows = await sql<
      { row: string }[]
    >`select (to_jsonb(t) - 'lease_until' - 'last_called_at')::text as row from ${sql(name)} t order by 1`;
    content[name] = rows.map(({ row }) => row);
  }
  return content;
}

const isEmpty = async (sql: postgres.Sql) => {
  const found =
    await sql`select relname from pg_class where relnamespace in (select oid from pg_namespace where nspname in ('public', 'drizzle'))`;
  return found.length === 0;
};

// The others have the same data.
const different = entries.filter(
  ({ tag }, at) => at === entries.length - 1 || RELEASES_WITH_DATA.includes(`${tag.slice(0, 4)}.sql`),
);
for (const { tag } of different) {
  const at = entries.findIndex((entry) => entry.tag === tag);
  t.test(`A backup of the schema ${tag} is restored into the newest schema`, async (t) => {
    const from = await emptyDatabase(t, `backup_${at}`, { upTo: at, data: true });
    const to = await emptyDatabase(t, `restored_${at}`);
    const copy = await copyOf(from.url);
    t.equal(copy.migration.tag, tag);
    t.notOk(
      copy.tables.some(({ name }) => name === 'rate_windows'),
      'counters of rate limits stay behind',
    );
    await fillEmptyDatabase(to.url, async (target) => void (await fill(target, copy)));
    await migrateDatabase(from.url);
    t.strictSame(await contentOf(to.sql), await contentOf(from.sql));
    const inserted = (sql: postgres.Sql) => sql`
      insert into users (identity_user_id, email, name) values ('local:new', 'new@example.com', 'New') returning id`;
    t.strictSame([...(await inserted(to.sql))], [...(await inserted(from.sql))], 'ids continue where they were');
    const [leases] = await to.sql`select count(*)::int as held from executions where lease_until > now()`;
    t.equal(leases?.held, 0);
  });
}

t.test('A snapshot contains the rows of its beginning, and nothing that is written meanwhile', async (t) => {
  const { url, sql } = await emptyDatabase(t, 'backup_snapshot', { upTo: entries.length - 1, data: true });
  const before = await contentOf(sql);
  const copy = await copyOf(url, async () => {
    await sql`delete from users where id = 1`;
    await sql`update users set name = 'Robert'`;
    await sql`delete from uploads`;
  });
  const to = await emptyDatabase(t, 'restored_snapshot');
  let counts: Record<string, number> = {};
  await fillEmptyDatabase(to.url, async (target) => {
    counts = await fill(target, copy);
  });
  t.strictSame(await contentOf(to.sql), before);
  t.strictSame(counts, Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows.length])));
  t.strictSame(copy.keys, ['key']);
});

t.test('A slow reader slows the server down, and one that stops ends the transaction at once', async (t) => {
  const { url, sql } = await emptyDatabase(t, 'backup_slow', { upTo: entries.length - 1, data: true });
  await sql`
    insert into audit_log (at, kind, details)
    select now(), 'user.changed', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 20000)`;
  const read: string[] = [];
  let held = 0;
  await readSnapshot(url, async (snapshot) => {
    for (const table of snapshot.tables) {
      for await (const piece of snapshot.copy(table)) {
        held += piece.length;
        if (table.name === 'audit_log') await new Promise(setImmediate);
      }
      read.push(table.name);
    }
    t.strictSame(
      read,
      snapshot.tables.map(({ name }) => name),
    );
  });
  t.ok(held > 20_000_000);
  const stopped = readSnapshot(url, async (snapshot) => {
    for (const table of snapshot.tables)
      for await (const _ of snapshot.copy(table)) if (table.name === 'audit_log') throw new Error('Enough.');
  });
  await t.rejects(stopped, { message: 'Enough.' });
  const left =
    await sql`select from pg_stat_activity where application_name = 'carillon backup' and datname = current_database()`;
  t.equal(left.length, 0);
});

t.test('A refused restore leaves the database empty and says why', async (t) => {
  const { url } = await emptyDatabase(t, 'backup_broken', { upTo: entries.length - 1, data: true });
  const copy = await copyOf(url);
  const to = await emptyDatabase(t, 'restored_broken');
  const refused = async (change: (copy: Copy) => Copy, message: RegExp) => {
    await t.rejects(
      fillEmptyDatabase(to.url, async (target) => void (await fill(target, change(structuredClone(copy))))),
      {
        message,
      },
    );
    t.ok(await isEmpty(to.sql));
  };
  const changed = (name: string, pieces: (pieces: Buffer[]) => Uint8Array[]) => (copy: Copy) => ({
    ...copy,
    tables: copy.tables.map((table) =>
      table.name === name ? { ...table, pieces: pieces(table.pieces) as Buffer[] } : table,
    ),
  });
  await refused(
    changed('users', () => []),
    /violates foreign key constraint/,
  );
  await refused(
    changed('tasks', () => [Buffer.from('no row\n')]),
    /invalid input syntax for type integer/,
  );
  await refused(
    changed('tasks', () => Array(200).fill(Buffer.alloc(65_536, 'x'))),
    /invalid input syntax|COPY|line/,
  );
  await refused(
    (copy) => ({ ...copy, tables: copy.tables.map((table) => ({ ...table, columns: ['other', ...table.columns] })) }),
    /unknownColumn "other"/,
  );
  await refused((copy) => ({ ...copy, migration: { tag: '9999_later', when: 9e12 } }), /tooNew 9999_later/);
  await refused(
    (copy) => ({ ...copy, migration: { tag: '0031_slots_of_executions', when: 1_795_481_295_473 } }),
    /tooOld 0031_slots_of_executions/,
  );
  await t.rejects(
    fillEmptyDatabase(to.url, async (target) => {
      await target.createTables(copy.migration, copy.partitions);
      const broken = async function* () {
        yield (copy.tables.find(({ name }) => name === 'users') as Copied).pieces[0] as Buffer;
        throw new Error('The archive ends here.');
      };
      await target.fill(copy.tables.find(({ name }) => name === 'users') as Copied, broken());
    }),
    { message: /^The archive ends here\.$/ },
  );
  t.ok(await isEmpty(to.sql));
});

t.test('A database that has tables is not changed by a restore', async (t) => {
  const { url, sql } = await emptyDatabase(t, 'restored_full', { upTo: entries.length - 1, data: true });
  const before = await contentOf(sql);
  await t.rejects(
    fillEmptyDatabase(url, async () => void t.fail('it was begun')),
    { message: 'notEmpty __drizzle_migrations, agent_calls, alerts …' },
  );
  t.strictSame(await contentOf(sql), before);
});

t.test('A database without tables cannot be backed up', async (t) => {
  const { url } = await emptyDatabase(t, 'backup_nothing');
  await t.rejects(copyOf(url), { message: 'noTables' });
});
