import { DAY_MS } from '@carillon/contract/primitives';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type DoctorTexts, type Finding, findingsFor } from './finding.ts';

const { warning } = findingsFor('webhooks');
/** A running API process ends them within seconds. */
const FAILED_MS = 60_000;

/** Finds deliveries that wait for webhooks to which nothing is sent. Those of one that is off may wait for `days`. */
export async function checkDeliveries(db: Db, now: Date, days: number, texts: DoctorTexts): Promise<Finding[]> {
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString();
  const [found] = await queryRows<{ failed: number; off: number }>(
    db,
    sql`
    select count(*) filter (where h.status = 'failed' and d.created_at < ${ago(FAILED_MS)})::int as failed,
      count(*) filter (where h.status = 'inactive' and d.created_at < ${ago(days * DAY_MS)})::int as off
    from deliveries d join endpoints h on h.id = d.webhook_id where d.status = 'pending' and h.status <> 'active'`,
  );
  const { failed = 0, off = 0 } = found ?? {};
  const findings: Finding[] = [];
  if (failed > 0) findings.push(warning(texts.deliveriesOfFailed(failed), texts.endDeliveries));
  if (off > 0) findings.push(warning(texts.deliveriesOfOff(days, off), texts.endDeliveries));
  return findings;
}
