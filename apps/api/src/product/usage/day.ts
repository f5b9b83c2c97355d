import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';

interface CallsOfDay {
  kind: 'task' | 'agent' | 'deleted';
  taskName: string | null;
  model: string | null;
  provider: string | null;
  executions: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  toolUses: number;
}

/** What the caller's tasks used on a UTC day, by task and model. The quotas bound the calls of a day. */
export const listCallsOfDay = ({ db }: Context, { id }: Caller, day: string): Promise<CallsOfDay[]> =>
  queryRows<CallsOfDay>(
    db,
    sql`
    select case when r.source = 'agent' then 'agent' when t.id is null then 'deleted' else 'task' end as kind,
      t.name as "taskName", r.model, r.provider, sum(r.executions)::int as executions,
      sum(r.input_tokens)::float8 as "inputTokens", sum(r.output_tokens)::float8 as "outputTokens",
      sum(r.cost_usd)::float8 as "costUsd", sum(r.tool_uses)::int as "toolUses"
    from usage_records r left join executions e on e.id = r.execution_id left join tasks t on t.id = e.task_id
    where r.user_id = ${id} and r.day = ${day}::date
    group by 1, t.id, r.model, r.provider order by t.name nulls last, 1, r.model, r.provider`,
  );
