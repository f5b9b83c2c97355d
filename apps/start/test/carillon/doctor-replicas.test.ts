import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { startReplication } from '../../../../packages/db/test/replication.ts';
import { checkReplicas } from '../../src/carillon/doctor/replicas.ts';

t.test('The doctor says how far a standby is behind, and when it is too far', async (t) => {
  const { db, standby } = await startReplication(t);
  const check = () =>
    checkReplicas(
      db,
      { databaseReadUrl: standby.url, databaseReadMaxLagMs: 300, databasePrepare: 'auto' },
      getTexts('en').doctor,
    );
  const { host } = new URL(standby.url);
  t.match(await check(), [{ level: 'ok', message: new RegExp(`^${host} is a standby and less than \\d+ ms behind$`) }]);
  await standby.pause();
  await db.execute(sql`create table later (id int)`);
  t.match(await check(), [
    { level: 'warning', message: `${host} is more than 300 ms behind: the primary answers its reads.` },
  ]);
  await standby.resume();
  await standby.catchUp();
  t.match(await check(), [{ level: 'ok' }]);
});

t.test('Without standbys there is nothing to check', async (t) => {
  t.same(
    await checkReplicas(
      {} as never,
      { databaseReadUrl: null, databaseReadMaxLagMs: 300, databasePrepare: 'auto' },
      getTexts('en').doctor,
    ),
    [],
  );
});
