import { endpoints, executions, occurrences, tasks, usageCounters, users } from '@carillon/db';
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../src/context.ts';
import { createWebhook } from '../../src/product/deliveries/webhooks/write.ts';
import { previewOccurrences } from '../../src/product/schedule/preview.ts';
import { buildRuns, type Run, type SampleTask } from './sample-runs.ts';
import { insertAlert, WATCHED } from './sample-watch.ts';

/** The time at which the sample is looked at: a Tuesday afternoon in Berlin. */
export const SAMPLE_NOW = new Date('2026-03-24T13:32:00.000Z');
const TIME_ZONE = 'Europe/Berlin';
const DAY_MS = 86_400_000;

const DIGEST = `## 14 new errors, 3 worth a look

Between 02:30 on Sunday and 02:30 on Monday the shop logged **14 new** errors and 212 known ones. The three below have not been seen before or touch orders.

| Error | Where | Times |
| --- | --- | ---: |
| \`PaymentIntentMismatch\` | checkout, step 3 | 6 |
| \`StockNegative\` | nightly import | 2 |
| \`TLS handshake\` | mail relay | 1 |

### What I would do first

1. Look at \`PaymentIntentMismatch\`. All six orders were paid twice and refunded once.
2. The import wrote −3 for two articles. The supplier’s file of Sunday has a minus sign in the quantity.
3. The relay’s certificate ends on 2 April. It is not urgent today.
`;

const TASKS: readonly SampleTask[] = [
  {
    name: 'Competitor price watch',
    pattern: '0 8-20 * * *',
    prompt: 'What does the 40 L compost bin cost on {{date}} at the three competitors in the list?',
    answer: '',
    costUsd: 0.012,
    durationMs: 9000,
    special: { 0: 'over_quota', 4: 'skipped_by_user', 7: 'cancelled' },
    ...WATCHED,
  },
  {
    name: 'Support inbox themes',
    pattern: '30 17 * * 1-5',
    prompt: 'Which themes came up in the support inbox today? Five lines, the most frequent first.',
    answer: 'Delivery dates (14), invoices (6), the new login (5). Nothing unusual.',
    costUsd: 0.084,
    durationMs: 21_000,
  },
  {
    name: 'Greenhouse log check',
    pattern: '0 */6 * * *',
    prompt: 'Check the temperatures of the greenhouses in the attached log against their limits.',
    answer: 'All three houses inside their limits. House 2 ran its vents for 41 minutes.',
    costUsd: 0.004,
    durationMs: 6000,
    special: { 20: 'missed', 21: 'missed' },
  },
  {
    name: 'Nightly error digest',
    pattern: '30 2 * * *',
    prompt: `Read the error log of the last 24 hours.
Group the errors that are not in known-errors.csv and say for each what it touches and how often it came.

Begin with one line that says whether I have to do something today. If nothing is new, say so in one line and stop.`,
    answer: DIGEST,
    costUsd: 0.042,
    durationMs: 15_000,
    special: { 0: 'failed', 9: 'late', 16: 'missed', 23: 'skipped_overlap' },
  },
  {
    name: 'Tender search Baden-Württemberg',
    pattern: '0 5 * * *',
    prompt: 'Search the tenders of Baden-Württemberg for school furniture.',
    answer: 'No new tender since Friday matches “school furniture”.',
    costUsd: 0.032,
    durationMs: 18_000,
  },
  {
    name: 'Regulatory news, medical devices',
    pattern: '45 6 * * 1-5',
    prompt: 'What is new in the regulation of medical devices in the EU since yesterday?',
    answer: 'One new guidance: MDCG 2026-4 on software updates. It touches our class IIa devices.',
    costUsd: 0.093,
    durationMs: 24_000,
  },
  {
    name: 'Stand-up questions',
    pattern: '50 8 * * 1-5',
    prompt: 'Write three questions for our stand-up from yesterday’s merge requests.',
    answer: 'Three questions, taken from yesterday’s merge requests.',
    costUsd: 0.028,
    durationMs: 8000,
    special: { 0: 'late', 5: 'late' },
  },
  {
    name: 'Release notes draft',
    pattern: '0 16 * * 5',
    prompt: 'Draft release notes from the changes of this week.',
    answer: 'A draft with four sections: new, changed, fixed, known issues.',
    costUsd: 0.11,
    durationMs: 31_000,
    status: 'paused',
  },
];

const SAMPLE_RUNS = 30;

export interface Sample {
  /** The ids of the tasks, by name. */
  tasks: Map<string, number>;
  /** The id of a run that failed. */
  failedRun: number;
  /** The id of a run whose watched value changed. */
  changedRun: number;
  /** The id of a webhook that is off. */
  webhook: string;
}

/** Gives a user a month of tasks, runs and usage, as of `SAMPLE_NOW`. */
export async function insertSample(ctx: Context, userId: number): Promise<Sample> {
  await ctx.db
    .update(users)
    .set({ plan: 'pro', timezone: TIME_ZONE, emailVerifiedAt: SAMPLE_NOW })
    .where(eq(users.id, userId));
  const ids = new Map<string, number>();
  const runs: Run[] = [];
  for (const sample of TASKS) {
    const inserted = await insertTask(ctx, userId, sample);
    ids.set(sample.name, inserted.taskId);
    runs.push(...inserted.runs);
  }
  // Lists of runs follow their ids.
  runs.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  await ctx.db.insert(executions).values(runs);
  await ctx.db.execute(sql`
    update tasks t set last_success_id = s.id, last_success_at = s.completed_at
    from (select distinct on (task_id) id, task_id, completed_at from executions where status = 'completed' order by task_id, id desc) s
    where s.task_id = t.id`);
  const caller = { id: userId } as Caller;
  const { id: webhookId } = await createWebhook(ctx, caller, {
    url: 'https://hooks.gartenhof.example/carillon',
    events: ['task.failed'],
  });
  await ctx.db.update(endpoints).set({ status: 'failed' }).where(eq(endpoints.id, webhookId));
  const days = Array.from({ length: 24 }, (_, at) => `2026-03-${String(at + 1).padStart(2, '0')}`);
  const counters = days.map((period, at) => {
    const isWeekend = [0, 1, 7, 8, 14, 15, 21, 22].includes(at);
    return {
      period,
      executions: isWeekend ? 22 : 42,
      tokens: 466_000,
      costUsd: isWeekend ? 0.25 : 0.55 + (at % 5) * 0.08,
    };
  });
  const month = {
    period: '2026-03',
    executions: 918,
    tokens: 11_200_000,
    costUsd: counters.reduce((sum, { costUsd }) => sum + costUsd, 0),
  };
  await ctx.db.insert(usageCounters).values([...counters, month].map((counter) => ({ userId, ...counter })));
  const [failed] = await ctx.db
    .select({ id: executions.id, taskId: executions.taskId, plannedFor: executions.plannedFor })
    .from(executions)
    .where(and(eq(executions.userId, userId), eq(executions.errorCode, 'TIMEOUT')));
  const [changed] = await ctx.db
    .select({ id: executions.id })
    .from(executions)
    .where(and(eq(executions.userId, userId), eq(executions.changed, true)))
    .orderBy(desc(executions.id));
  await insertAlert(ctx, userId, failed!);
  return { tasks: ids, failedRun: failed!.id, changedRun: changed!.id, webhook: webhookId };
}

/** Inserts a task with its planned runs, and returns its executions. */
async function insertTask(ctx: Context, userId: number, sample: SampleTask): Promise<{ taskId: number; runs: Run[] }> {
  const { name, pattern, prompt, status = 'active', special = {}, settings } = sample;
  const createdAt = new Date(SAMPLE_NOW.getTime() - 200 * DAY_MS);
  const schedule = {
    scheduledFor: new Date(SAMPLE_NOW.getTime() - 60 * DAY_MS),
    recurrence: 'daily' as const,
    recurrencePattern: pattern,
    timezone: TIME_ZONE,
  };
  const [next] = previewOccurrences(schedule, SAMPLE_NOW, 1);
  const past = previewOccurrences(schedule, new Date(SAMPLE_NOW.getTime() - 60 * DAY_MS), 2000)
    .map(({ at }) => at)
    .filter((at) => at <= SAMPLE_NOW)
    .slice(-SAMPLE_RUNS)
    .reverse();
  const [task] = await ctx.db
    .insert(tasks)
    .values({
      userId,
      name,
      prompt,
      ...schedule,
      aiModel: 'large-2026-01',
      maxTokens: 2048,
      temperature: 70,
      status,
      nextExecutionAt: status === 'active' ? (next?.at ?? null) : null,
      executionCount: past.length,
      consecutiveFailures: special[0] === 'failed' ? 3 : 0,
      lastExecutionAt: past[0] ?? null,
      createdAt,
      updatedAt: createdAt,
      ...settings,
    })
    .returning({ id: tasks.id });
  const taskId = task!.id;
  await ctx.db.insert(occurrences).values(
    past.map((plannedFor, at) => {
      const fate = special[at] ?? 'ran';
      return {
        taskId,
        plannedFor,
        fate: fate === 'failed' ? 'ran' : fate,
        recordedAt: fate === 'late' ? new Date(plannedFor.getTime() + 4 * 60_000) : plannedFor,
      };
    }),
  );
  return { taskId, runs: buildRuns(sample, { taskId, userId, timezone: TIME_ZONE, past }) };
}
