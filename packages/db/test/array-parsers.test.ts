import { sql } from 'drizzle-orm';
import t from 'tap';
import { queryRows } from '../src/index.ts';
import { testDatabase } from '../src/test-database.ts';

const { db } = await testDatabase(t);

t.test('Arrays arrive as they were written', async (t) => {
  const [row] = await queryRows(
    db,
    sql`select array['plain', '', 'NULL', null, 'a,b', '{c}', ' d ', 'quote " and \\ slash', ${'line\nbreak'}, 'ключ'] as texts,
      array[1, -2, null]::int[] as ints, array[9007199254740993]::bigint[] as longs, array[true, false] as flags,
      array[[1, 2], [3, 4]] as nested, array[]::text[] as empty, null::text[] as missing,
      array['0b1f6a5e-6a0e-4c55-9a1d-0c7a3f5f1b2c']::uuid[] as ids, array[0.5, 'infinity']::float8[] as floats`,
  );
  t.same(row, {
    texts: ['plain', '', 'NULL', null, 'a,b', '{c}', ' d ', 'quote " and \\ slash', 'line\nbreak', 'ключ'],
    ints: [1, -2, null],
    longs: ['9007199254740993'],
    flags: [true, false],
    nested: [
      [1, 2],
      [3, 4],
    ],
    empty: [],
    missing: null,
    ids: ['0b1f6a5e-6a0e-4c55-9a1d-0c7a3f5f1b2c'],
    floats: [0.5, Number.POSITIVE_INFINITY],
  });
});
