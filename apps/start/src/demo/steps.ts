import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createApiClient } from './api-client.ts';
import type { Installation } from './installation.ts';

const DUE_IN_MS = 2000;
const RUN_TIMEOUT_MS = 30_000;

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

/** Uses the service as a user would, over HTTP, and prints each step. Throws if a check fails. */
export async function runSteps({ url, answer }: Installation, cleanUp: AsyncDisposableStack): Promise<void> {
  const api = createApiClient(url);
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

  step(2, 'Preview a schedule before saving it: 02:30 each day, over the night when the clocks change');
  const spring = lastSundayOfMarch(new Date().getUTCFullYear() + 1);
  const { occurrences: planned } = await api.post<{ occurrences: { local: string; note?: string }[] }>(
    '/api/tasks/preview',
    { scheduledFor: dayBefore(spring), recurrence: 'daily', timezone: 'Europe/Berlin', count: 3 },
  );
  for (const { local, note } of planned) say(`${local}${note ? `  (${note})` : ''}`);
  assert(planned.length === 3, 'The preview does not show three runs');
  assert(planned[1]?.note, 'The preview does not explain the run in the missing hour');

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
  const execution = await waitForResult();
  if (execution.status === 'failed') throw new Error(`The run failed: ${execution.error}`);
  say(`execution ${execution.id} completed in ${execution.processingTimeMs} ms by ${execution.model}`);
  say(`result: “${execution.result}”`);
  assert(execution.result, 'There is no result');
  assert(answer === null || execution.result === answer, 'The result is not the answer of the provider');
  const { input = 0, output = 0, total = 0 } = execution.tokens ?? {};
  say(`tokens: ${input} in, ${output} out, ${total} in total`);
  assert(total > 0 && total === input + output, 'The tokens were not counted');

  step(5, 'Read the ledger: the outcome of each planned run');
  const { occurrences } = await api.get<{ occurrences: Occurrence[] }>(`/api/tasks/${taskId}/occurrences`);
  for (const { plannedFor, fate, executionId, latenessMs } of occurrences) {
    say(`${plannedFor}  ${fate}  execution ${executionId}, started ${latenessMs} ms after the planned instant`);
  }
  const [run] = occurrences;
  assert(
    occurrences.length === 1 && run?.executionId === execution.id,
    'The planned run does not have exactly one execution',
  );
  assert(run?.fate === 'ran' && run.plannedFor === scheduledFor, 'The run was not planned for the chosen instant');

  async function waitForResult(): Promise<Execution> {
    const deadline = performance.now() + RUN_TIMEOUT_MS;
    for (;;) {
      const { executions } = await api.get<{ executions: Execution[] }>(`/api/executions?taskId=${taskId}`);
      // A failed execution is retried after a minute or more, which the demo does not wait for.
      const ended = executions.find(({ status }) => status === 'completed' || status === 'failed');
      if (ended) return ended;
      if (performance.now() > deadline) {
        const reason =
          executions.length > 0 ? 'The provider did not answer' : 'Does the scheduler run? No execution started';
        throw new Error(`${reason} within ${RUN_TIMEOUT_MS / 1000} seconds.`);
      }
      await delay(500);
    }
  }
}

const step = (number: number, title: string) => console.log(`\n${number}. ${title}`);
const say = (line: string) => console.log(`   ${line}`);

function assert(condition: unknown, failure: string): void {
  if (!condition) throw new Error(`${failure}.`);
}

function lastSundayOfMarch(year: number): Date {
  const last = new Date(Date.UTC(year, 2, 31));
  return new Date(Date.UTC(year, 2, 31 - last.getUTCDay()));
}

/** 02:30 in Berlin, in winter time. */
const dayBefore = (day: Date) => new Date(day.getTime() - 22.5 * 60 * 60 * 1000).toISOString();
