import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { type Db, databaseErrorCode, queryRows, SQLSTATE, schedulerState } from '@carillon/db';
import { sql } from 'drizzle-orm';

const { ok, warning, problem } = findingsFor('scheduler');
/** The scheduler calls every second; without it, the worker enqueues due tasks after a minute. */
const LATE_S = 30;
const OVERDUE_S = 120;
const WAITING_S = 600;
const SILENT_S = 120;

interface Facts {
  maintenance: boolean;
  overdue: number;
  oldestS: number | null;
  late: number;
  recorded: number;
  waiting: number;
  mails: number;
  processes: number;
}

/** Checks that due tasks are enqueued in time and that queued executions and mails do not wait. */
export async function checkScheduler(db: Db, now: Date, texts: DoctorTexts): Promise<Finding[]> {
  const at = now.toISOString();
  const ago = (seconds: number) => sql`(${at}::timestamptz - make_interval(secs => ${seconds}))`;
  const [facts] = await queryRows<Facts>(
    db,
    sql`
    select (select maintenance_mode from settings) as maintenance,
      (select count(*)::int from tasks where next_execution_at < ${ago(OVERDUE_S)}) as overdue,
      (select extract(epoch from ${at}::timestamptz - min(next_execution_at))::float8 from tasks
        where next_execution_at < ${ago(OVERDUE_S)}) as oldest_s,
      (select count(*)::int from occurrences where recorded_at > ${ago(3600)}) as recorded,
      (select count(*)::int from occurrences where recorded_at > ${ago(3600)} and fate = 'late'
        and recorded_at - planned_for > make_interval(secs => ${LATE_S})) as late,
      (select count(*)::int from executions where status = 'pending' and queued_at < ${ago(WAITING_S)}) as waiting,
      (select count(*)::int from mails where next_attempt_at < ${ago(WAITING_S)}) as mails,
      (select count(distinct client_addr::text || client_port::text)::int from pg_stat_activity
        where datname = current_database() and application_name = 'carillon' and pid <> pg_backend_pid()) as processes`,
  );
  return facts ? toFindings({ ...facts, silentS: await findSilence(db, now) }, texts) : [];
}

/** The seconds since the last call; null if the schema is too old to tell. */
async function findSilence(db: Db, now: Date): Promise<number | null> {
  try {
    const [state] = await db.select().from(schedulerState);
    return state ? (now.getTime() - state.lastCalledAt.getTime()) / 1000 : null;
  } catch (error) {
    if (databaseErrorCode(error) === SQLSTATE.undefinedTable) return null;
    throw error;
  }
}

type AllFacts = Facts & { silentS: number | null };

function toFindings(facts: AllFacts, texts: DoctorTexts): Finding[] {
  const { maintenance, overdue, oldestS, late, recorded, waiting, mails, processes, silentS } = facts;
  const findings: Finding[] = [];
  if (processes === 0) findings.push(warning(texts.noProcess, texts.startScheduling));
  if (processes > 0 && silentS !== null && silentS > SILENT_S) {
    findings.push(warning(texts.schedulerSilent(Math.round(silentS)), texts.startScheduler));
  }
  if (maintenance) {
    findings.push(warning(texts.inMaintenance, texts.endMaintenance));
  } else if (overdue > 0) {
    const fix = processes === 0 ? texts.startScheduling : texts.checkLogs;
    findings.push(problem(texts.overdue(overdue, Math.round(oldestS ?? 0)), fix));
  } else if (late > 0) {
    findings.push(warning(texts.enqueuedLate(recorded, late, LATE_S), texts.startLateScheduler));
  }
  if (waiting > 0 && !maintenance) findings.push(warning(texts.executionsWait(waiting), texts.addProcess));
  if (mails > 0) findings.push(warning(texts.mailsWait(mails), texts.seeMailCheck));
  return findings.length > 0 ? findings : [ok(texts.enqueuedInTime)];
}
