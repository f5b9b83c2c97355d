import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Targets } from './targets.ts';

interface Row {
  kind: string;
  event: string;
  status: string;
  /** Of the digest that has it. */
  digestStatus: string | null;
  attempt: number;
  logged: number;
  message: string | null;
}

export interface Run {
  total: number;
  /** Deliveries that were being sent at a kill. */
  cut: number;
  kills: number;
  seconds: number;
}

/** Prints what became of the messages, and throws if one was lost. */
export async function checkDeliveries(db: Db, targets: Targets, { total, cut, kills, seconds }: Run): Promise<void> {
  const rows = await queryRows<Row>(
    db,
    sql`select h.kind, d.event, d.status, g.status as digest_status, d.attempt,
        (select count(*)::int from delivery_attempts a where a.delivery_id = d.id) as logged,
        substring(d.payload from 'msg[0-9]+z') as message
      from deliveries d join webhooks h on h.id = d.webhook_id left join deliveries g on g.id = d.digest_id`,
  );
  const messages = rows.filter(({ event }) => event !== 'digest');
  const alone = messages.filter(({ status }) => status === 'delivered');
  const errors: string[] = [];
  const expect = (what: string, actual: number, isRight: boolean) => {
    if (!isRight) errors.push(`${what}: ${actual}`);
  };
  const count = (matches: (row: Row) => boolean) => messages.filter(matches).length;
  const unended = count(
    ({ status, digestStatus }) => !ENDS.includes(status === 'digested' ? `${digestStatus}` : status),
  );
  const unreceived = alone.filter(({ message }) => !targets.accepted.has(message ?? '')).length;
  const unlogged = rows.filter(({ attempt, logged }) => attempt !== logged).length;
  const repeated = [...targets.accepted.values()].reduce((sum, times) => sum + times - 1, 0);
  expect('messages', messages.length, messages.length === total);
  expect('neither delivered nor failed', unended, unended === 0);
  expect('delivered, but never accepted', unreceived, unreceived === 0);
  expect('with attempts that are missing in the log', unlogged, unlogged === 0);
  expect(`sent twice, of ${cut} that a kill cut`, repeated, repeated <= cut);

  const attempts = rows.reduce((sum, { logged }) => sum + logged, 0);
  const digests = rows.length - messages.length;
  console.log(`  ${messages.length} messages in ${Math.round(seconds)} s over ${kills} × kill -9`);
  console.log(`  delivered: ${alone.length}, failed: ${count(({ status }) => status === 'failed')}`);
  console.log(`  in ${digests} digests: ${count(({ status }) => status === 'digested')}`);
  console.log(`  attempts in the log: ${attempts}, requests to targets: ${targets.requests}`);
  console.log(`  answers: ${[...targets.fates].map(([fate, times]) => `${fate} ${times}`).join(', ')}`);
  console.log(`  cut by a kill: ${cut}, of these sent twice: ${repeated}`);
  for (const kind of new Set(messages.map((row) => row.kind)))
    console.log(
      `  ${kind}: ${count((row) => row.kind === kind && row.status === 'delivered')} of ${count((row) => row.kind === kind)} delivered alone`,
    );
  for (const error of errors) console.log(`  ERROR: ${error}`);
  if (errors.length > 0) throw new Error(errors.join('; '));
}

const ENDS = ['delivered', 'failed'];
