import type { executions, OutputChange, occurrences, tasks } from '@carillon/db';
import { buildRequest } from '../../src/product/executions/request/build-request.ts';

type Fate = (typeof occurrences.$inferInsert)['fate'];
export type SampleOutput = Record<string, unknown> & { price: number };

export interface SampleTask {
  name: string;
  pattern: string;
  prompt: string;
  answer: string;
  costUsd: number;
  durationMs: number;
  status?: 'active' | 'paused';
  /** The fates of planned runs counted from the latest, instead of `ran`; `failed` is a run that failed. */
  special?: Record<number, Fate | 'failed'>;
  settings?: Partial<typeof tasks.$inferInsert>;
  /** The parsed answer of a run, counted from the latest. */
  findOutput?: (at: number) => SampleOutput;
}

export type Run = typeof executions.$inferInsert;

interface Planned {
  taskId: number;
  userId: number;
  timezone: string;
  /** The latest first. */
  past: readonly Date[];
}

const MODEL = 'large-2026-01';

/** The executions of planned runs. */
export function buildRuns(sample: SampleTask, { past, ...task }: Planned): Run[] {
  const { special = {} } = sample;
  return past.flatMap((plannedFor, at): Run[] => {
    const fate = special[at] ?? 'ran';
    if (!['ran', 'late', 'failed', 'cancelled'].includes(fate)) return [];
    const startedAt = new Date(plannedFor.getTime() + (fate === 'late' ? 240_000 : 400));
    const common = {
      taskId: task.taskId,
      userId: task.userId,
      trigger: 'schedule' as const,
      plannedFor,
      runAt: plannedFor,
      queuedAt: plannedFor,
      startedAt,
      createdAt: plannedFor,
      inputTokens: 6412,
      model: MODEL,
      request: buildSampleRequest(sample, task.timezone, { plannedFor, startedAt, before: past[at + 1] }),
      usageDay: plannedFor.toISOString().slice(0, 10),
    };
    if (fate === 'failed') return [{ ...common, ...endAfter(startedAt, 60_000), ...TIMED_OUT }];
    if (fate === 'cancelled') return [{ ...common, ...endAfter(startedAt, 4200), ...CANCELLED }];
    const took = Math.round(sample.durationMs * (0.8 + ((at * 7) % 10) / 20));
    return [
      {
        ...common,
        ...endAfter(startedAt, took),
        ...findAnswer(sample, at),
        status: 'completed',
        outputTokens: 380,
        costUsd: sample.costUsd * (0.8 + ((at * 3) % 10) / 20),
      },
    ];
  });
}

const endAfter = (startedAt: Date, ms: number) => ({
  completedAt: new Date(startedAt.getTime() + ms),
  processingTimeMs: ms,
});

const TIMED_OUT = {
  status: 'failed',
  errorCode: 'TIMEOUT',
  error: 'The provider did not answer within 60 s.',
  outputTokens: 0,
  costUsd: 0.019,
} as const;

const CANCELLED = {
  status: 'failed',
  errorCode: 'CANCELLED',
  error: 'The run was cancelled',
  outputTokens: 0,
  costUsd: 0.004,
} as const;

function findAnswer({ answer, findOutput }: SampleTask, at: number) {
  if (!findOutput) {
    return {
      result: at % 4 === 2 ? answer.replace('14 new errors', '9 new errors').replace('14 new', '9 new') : answer,
    };
  }
  const [output, before] = [findOutput(at), findOutput(at + 1)];
  const changes: OutputChange[] =
    output.price === before.price ? [] : [{ path: 'price', from: before.price, to: output.price }];
  return { output, result: JSON.stringify(output, null, 2), changed: changes.length > 0, changes };
}

function buildSampleRequest(
  { name, prompt, settings }: SampleTask,
  timezone: string,
  { plannedFor, startedAt, before }: { plannedFor: Date; startedAt: Date; before: Date | undefined },
) {
  return buildRequest(
    {
      taskName: name,
      prompt,
      aiModel: MODEL,
      timezone,
      context: { clock: true, previousResult: false },
      outputSchema: settings?.outputSchema ?? null,
      tools: settings?.tools ?? [],
      trigger: 'schedule',
      attempt: 1,
      viaWebhook: false,
      plannedFor: plannedFor.toISOString(),
      inboundData: null,
      lastSuccessAt: before?.toISOString() ?? null,
      previousResult: null,
      inputs: null,
    },
    startedAt,
  );
}
