import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createCaller } from './caller.ts';
import type { Target } from './target.ts';

const DUE_IN_MS = 2000;
const PATIENCE_MS = 30_000;

interface Execution {
  id: number;
  status: 'pending' | 'running' | 'completed' | 'failed';
  result: string | null;
  error: string | null;
  model: string | null;
  tokens: { input: number; output: number; total: number } | null;
  processingTimeMs: number | null;
}

interface Occurrence {
  plannedFor: string;
  fate: string;
  executionId: number | null;
  latenessMs: number | null;
}

/** Does it all as a user would, over HTTP, and prints it. Throws what did not hold. What it made goes on `cleanUp`. */
export async function runStory({ url, answer }: Target, cleanUp: AsyncDisposableStack): Promise<void> {
  const api = createCaller(url);
  const email = `demo-${randomBytes(4).toString('hex')}@example.com`;
  const password = `Demo-${randomBytes(12).toString('base64url')}-1`;

  step(1, 'Register and sign in');
  await api.post('/api/auth/register', { name: 'Demo', email, password, timezone: 'Europe/Berlin' });
  const { token } = await api.post<{ token: string }>('/api/auth/login', { email, password });
  api.authorize(token);
  cleanUp.defer(async () => {
    await api.post('/api/auth/logout').catch(() => {});
  });
  say(`${email} is signed in`);

  step(2, 'Ask what a schedule will do, before saving it: 02:30 each day, over the night the clocks change');
  const spring = lastSundayOfMarch(new Date().getUTCFullYear() + 1);
  const { occurrences: planned } = await api.post<{ occurrences: { local: string; note?: string }[] }>(
    '/api/tasks/preview',
    { scheduledFor: dayBefore(spring), recurrence: 'daily', timezone: 'Europe/Berlin', count: 3 },
  );
  for (const { local, note } of planned) say(`${local}${note ? `  (${note})` : ''}`);
  must(planned.length === 3, 'the preview shows three runs');
  must(planned[1]?.note, 'the run in the missing hour is explained');

  const scheduledFor = new Date(Date.now() + DUE_IN_MS).toISOString();
  const prompt = 'Write one sentence that begins a working day well.';
  step(3, `Save a task that is due in ${DUE_IN_MS / 1000} seconds, at ${scheduledFor}`);
  const task = { name: 'Morning sentence', prompt, scheduledFor, recurrence: 'once', timezone: 'Europe/Berlin' };
  const { taskId } = await api.post<{ taskId: number }>('/api/agent/create-task', task);
  cleanUp.defer(async () => {
    await api.delete(`/api/tasks/${taskId}`).catch(() => {});
  });
  say(`task ${taskId}: “${prompt}”`);

  step(4, 'Wait for the scheduler to run it');
  const execution = await waitForEnd();
  if (execution.status === 'failed') throw new Error(`The run failed: ${execution.error}`);
  say(`execution ${execution.id} was completed in ${execution.processingTimeMs} ms by ${execution.model}`);
  say(`result: “${execution.result}”`);
  must(execution.result, 'there is a result');
  must(answer === null || execution.result === answer, 'the result is what the provider said');
  const { input = 0, output = 0, total = 0 } = execution.tokens ?? {};
  say(`tokens: ${input} in, ${output} out, ${total} in all`);
  must(total > 0 && total === input + output, 'the tokens were counted');

  step(5, 'Read the ledger: what became of each planned run');
  const { occurrences } = await api.get<{ occurrences: Occurrence[] }>(`/api/tasks/${taskId}/occurrences`);
  for (const { plannedFor, fate, executionId, latenessMs } of occurrences) {
    say(`${plannedFor}  ${fate}  execution ${executionId}, started ${latenessMs} ms after its instant`);
  }
  const [run] = occurrences;
  must(occurrences.length === 1 && run?.executionId === execution.id, 'one planned run has one execution');
  must(run?.fate === 'ran' && run.plannedFor === scheduledFor, 'it ran at the instant it was planned for');

  async function waitForEnd(): Promise<Execution> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const { executions } = await api.get<{ executions: Execution[] }>(`/api/executions?taskId=${taskId}`);
      // A failed run has its retry before it, which the demo does not wait for.
      const ended = executions.find(({ status }) => status === 'completed' || status === 'failed');
      if (ended) return ended;
      if (performance.now() > deadline) {
        const why =
          executions.length > 0 ? 'Its provider has not answered' : 'Does its scheduler run? Nothing has started';
        throw new Error(`${why} within ${PATIENCE_MS / 1000} seconds.`);
      }
      await delay(500);
    }
  }
}

const step = (number: number, title: string) => console.log(`\n${number}. ${title}`);
const say = (line: string) => console.log(`   ${line}`);

function must(held: unknown, promise: string): void {
  if (!held) throw new Error(`It does not hold that ${promise}.`);
}

function lastSundayOfMarch(year: number): Date {
  const last = new Date(Date.UTC(year, 2, 31));
  return new Date(Date.UTC(year, 2, 31 - last.getUTCDay()));
}

/** 02:30 in Berlin, then still winter time. */
const dayBefore = (day: Date) => new Date(day.getTime() - 22.5 * 60 * 60 * 1000).toISOString();
