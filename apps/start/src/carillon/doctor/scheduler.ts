import { type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
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
export async function checkScheduler(db: Db, now: Date): Promise<Finding[]> {
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
  return facts ? toFindings({ ...facts, silentS: await findSilence(db, now) }) : [];
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

function toFindings(facts: AllFacts): Finding[] {
  const { maintenance, overdue, oldestS, late, recorded, waiting, mails, processes, silentS } = facts;
  const findings: Finding[] = [];
  const start = 'Start an API process and the scheduler.';
  if (processes === 0) findings.push(warning('No API process is connected to the database.', start));
  if (processes > 0 && silentS !== null && silentS > SILENT_S) {
    findings.push(
      warning(
        `The scheduler has not called for ${Math.round(silentS)} s.`,
        'Start the scheduler. Its API_URL and CRON_SECRET must be those of the API.',
      ),
    );
  }
  if (maintenance) {
    findings.push(
      warning(
        'Maintenance mode is on: nothing is started.',
        'End it with PATCH /api/admin/settings and {"maintenanceMode": false}.',
      ),
    );
  } else if (overdue > 0) {
    findings.push(
      problem(
        `Due tasks are not enqueued. Overdue: ${overdue}, the oldest for ${Math.round(oldestS ?? 0)} s.`,
        processes === 0 ? start : 'Check the logs of the API processes and of the scheduler.',
      ),
    );
  } else if (late > 0) {
    findings.push(
      warning(
        `Of the ${recorded} runs in the last hour, ${late} were enqueued more than ${LATE_S} s late.`,
        'Start the scheduler: without it the API processes check once a minute. Its API_URL and CRON_SECRET must be those of the API.',
      ),
    );
  }
  if (waiting > 0 && !maintenance) {
    findings.push(
      warning(
        `Executions have waited for more than 10 minutes: ${waiting}.`,
        'Raise EXECUTION_CONCURRENCY, or start another API process.',
      ),
    );
  }
  if (mails > 0) {
    findings.push(
      warning(`Mails have waited for more than 10 minutes: ${mails}.`, 'See the result of the mail check.'),
    );
  }
  return findings.length > 0 ? findings : [ok('due tasks are enqueued in time')];
}
