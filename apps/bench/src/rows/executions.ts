import { rows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Bed, Bench } from '../bench.ts';
import { inRounds } from '../comparison.ts';
import { digits } from '../figures.ts';
import { type AiServer, startAiServer } from '../setup/ai-server.ts';
import { SERVER_CORE } from '../setup/cores.ts';
import { connectPatiently, install } from '../setup/installation.ts';
import { addPeople, addTasks, makeDue } from '../setup/people.ts';
import { programAt, startProcess } from '../setup/processes.ts';
import { runAllDue, settle } from './due-tasks.ts';

/** As an operator would set it whose provider answers quickly: `EXECUTION_CONCURRENCY`, and the same for the yardsticks. */
const CONCURRENCY = 200;
/** 20 daily tasks each: no round ends at the quota of 500 runs a day. */
const TASKS_EACH = 20;
const PATIENCE_MS = 180_000;

const YARDSTICKS = {
  'batched-sql': 'hand-written batched SQL',
  'pg-boss': 'pg-boss',
  'graphile-worker': 'graphile-worker',
};
type Yardstick = keyof typeof YARDSTICKS;
const AIMS: Record<Yardstick, number> = { 'batched-sql': 0.7, 'pg-boss': 1, 'graphile-worker': 1 };

/** How many executions a process makes when the provider costs nothing. */
export const executions: Bench = {
  about:
    'executions per second, 10,000 daily tasks due at one instant, answers at once, with ledger, quotas and events to no webhook',
  async run(stack, bed) {
    const count = bed.quick ? 40 : 10_000;
    const ai = await startAiServer(stack, bed.server.folder);
    const { db, jwtSecret } = await install(stack, bed, {
      ai,
      apiEnv: { EXECUTION_CONCURRENCY: String(CONCURRENCY) },
    });
    await addPeople(db, { count: count / TASKS_EACH, jwtSecret });
    await addTasks(db, TASKS_EACH);
    const carillon = async () => {
      const { lastEndMs } = await runAllDue(db, { count, patienceMs: PATIENCE_MS });
      return (count / lastEndMs) * 1000;
    };
    const others = Object.keys(YARDSTICKS) as Yardstick[];
    const prepared = await Promise.all(others.map((name) => prepare(stack, bed, { name, ai, count })));
    const [batched, boss, graphile] = prepared as [Rate, Rate, Rate];
    const results = await inRounds(
      bed.rounds,
      { carillon, 'batched-sql': batched, 'pg-boss': boss, 'graphile-worker': graphile },
      (rate) => `${digits(rate)} executions/s`,
    );
    return others.map((name) => ({
      what: 'executions',
      unit: 'executions/s',
      values: results.carillon,
      yardstick: { name: YARDSTICKS[name], values: results[name] },
      aim: { atLeast: AIMS[name] },
      note: `Carillon's time begins when the tasks are due and contains taking them up; the queues have their jobs already, and theirs begins with the first start. EXECUTION_CONCURRENCY is ${CONCURRENCY}, for the yardsticks too`,
    }));
  },
};

type Rate = () => Promise<number>;

interface Contestant {
  name: Yardstick;
  ai: AiServer;
  count: number;
}

/** A yardstick has a database of its own with the same people and tasks; a new process in each round. */
async function prepare(stack: AsyncDisposableStack, { server }: Bed, { name, ai, count }: Contestant): Promise<Rate> {
  const databaseUrl = await server.newDatabase();
  const db = connectPatiently(stack, databaseUrl);
  await addPeople(db, { count: count / TASKS_EACH, jwtSecret: 'unused' });
  await addTasks(db, TASKS_EACH);
  return async () => {
    if (name === 'batched-sql') await makeDue(db, new Date());
    await settle(db);
    const since = new Date().toISOString();
    const { end } = await startProcess(stack, {
      name,
      file: programAt(`yardsticks/${name}-main.ts`),
      folder: server.folder,
      core: SERVER_CORE,
      env: { DATABASE_URL: databaseUrl, AI_URL: ai.url, CONCURRENCY: String(CONCURRENCY) },
      ready: /^(done)$/m,
      patienceMs: PATIENCE_MS,
    });
    await end();
    const [row] = await rows<{ completed: number; ms: number }>(
      db,
      sql`
      select count(*)::int as completed, (extract(epoch from max(completed_at) - min(started_at)) * 1000)::float8 as ms
      from executions where status = 'completed' and created_at >= ${since}::timestamptz`,
    );
    if (row?.completed !== count) throw new Error(`${name} completed ${row?.completed} of ${count}.`);
    return (count / row.ms) * 1000;
  };
}
