import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';

const MAX_ENTRIES = 20;

interface Activity {
  type: string;
  timestamp: Date;
  details: Record<string, unknown>;
}

/** The latest 20 of an account's audit entries, created tasks and executions, newest first. */
export async function listActivity({ db }: Context, userId: number): Promise<Activity[]> {
  const found = await queryRows<Omit<Activity, 'timestamp'> & { timestamp: string }>(
    db,
    sql`
    select type, timestamp, details from (
      (select 1 as part, id, kind as type, at as timestamp,
        details || jsonb_build_object('actorId', actor_id, 'address', address) as details
      from audit_log where user_id = ${userId} order by id desc limit ${MAX_ENTRIES})
      union all
      (select 2, id, 'task.created', created_at, jsonb_build_object('taskId', id, 'name', name)
      from tasks where user_id = ${userId} order by id desc limit ${MAX_ENTRIES})
      union all
      (select 3, e.id, 'execution.' || e.status, coalesce(e.completed_at, e.started_at, e.created_at),
        jsonb_build_object('executionId', e.id, 'taskId', e.task_id, 'taskName', t.name, 'trigger', e.trigger,
          'errorCode', e.error_code)
      from executions e join tasks t on t.id = e.task_id
      where e.user_id = ${userId} order by e.id desc limit ${MAX_ENTRIES})
    ) latest
    order by timestamp desc, part, id desc limit ${MAX_ENTRIES}`,
  );
  return found.map(({ timestamp, ...activity }) => ({ ...activity, timestamp: new Date(timestamp) }));
}
