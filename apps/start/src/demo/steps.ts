import { randomBytes } from 'node:crypto';
import { Carillon, type TaskExecution } from '@carillon/client/source';
import { DEMO_ANSWER } from './ai-provider.ts';
import { useAssistant } from './assistant.ts';
import type { Installation } from './installation.ts';
import { assert, printLine as say, printStep as step } from './print.ts';
import { watchPrice } from './watch-price.ts';

const DUE_IN_MS = 2000;
const RUN_TIMEOUT_MS = 30_000;

/** Uses the service as a user would, over HTTP, and prints each step. Throws if a check fails. */
export async function runSteps(installation: Installation, cleanUp: AsyncDisposableStack): Promise<void> {
  const { url, provider, restart } = installation;
  const visitor = new Carillon({ baseUrl: url });
  const email = `demo-${randomBytes(4).toString('hex')}@example.com`;
  const password = `Demo-${randomBytes(12).toString('base64url')}-1`;

  step(1, 'Register and sign in');
  await visitor.auth.register({ name: 'Demo', email, password, timezone: 'Europe/Berlin' });
  const { token } = await visitor.auth.login({ email, password });
  const carillon = new Carillon({ baseUrl: url, apiKey: token });
  cleanUp.defer(async () => {
    await carillon.auth.logout().catch(() => {});
  });
  say(`${email} is signed in`);

  step(2, 'Preview a schedule before saving it: 02:30 each day, over the night when the clocks change');
  const spring = lastSundayOfMarch(new Date().getUTCFullYear() + 1);
  const { occurrences: planned } = await carillon.tasks.preview({
    scheduledFor: dayBefore(spring),
    recurrence: 'daily',
    timezone: 'Europe/Berlin',
    count: 3,
  });
  for (const { local, note } of planned) say(`${local}${note ? `  (${note})` : ''}`);
  assert(planned.length === 3, 'The preview does not show three runs');
  assert(planned[1]?.note, 'The preview does not explain the run in the missing hour');

  const scheduledFor = new Date(Date.now() + DUE_IN_MS).toISOString();
  const prompt = 'Write one sentence that begins a working day well.';
  step(3, `Save a task that is due in ${DUE_IN_MS / 1000} seconds, at ${scheduledFor}`);
  const { taskId } = await carillon.tasks.create({
    name: 'Morning sentence',
    prompt,
    scheduledFor,
    recurrence: 'once',
    timezone: 'Europe/Berlin',
  });
  cleanUp.defer(async () => {
    await carillon.tasks.delete(taskId).catch(() => {});
  });
  say(`task ${taskId}: “${prompt}”`);

  step(4, 'Wait for the scheduler to run it');
  const execution = await waitForResult();
  if (execution.status === 'failed') throw new Error(`The run failed: ${execution.error}`);
  say(`execution ${execution.id} completed in ${execution.processingTimeMs} ms by ${execution.model}`);
  say(`result: “${execution.result}”`);
  assert(execution.result, 'There is no result');
  assert(provider === null || execution.result === DEMO_ANSWER, 'The result is not the answer of the provider');
  const { input = 0, output = 0, total = 0 } = execution.tokens ?? {};
  say(`tokens: ${input} in, ${output} out, ${total} in total`);
  assert(total > 0 && total === input + output, 'The tokens were not counted');

  step(5, 'Read the ledger: the outcome of each planned run');
  const { occurrences } = await carillon.tasks.occurrences(taskId).page();
  for (const { plannedFor, fate, executionId, latenessMs } of occurrences) {
    say(`${plannedFor}  ${fate}  execution ${executionId}, started ${latenessMs} ms after the planned instant`);
  }
  const [run] = occurrences;
  assert(
    occurrences.length === 1 && run?.executionId === execution.id,
    'The planned run does not have exactly one execution',
  );
  assert(run?.fate === 'ran' && run.plannedFor === scheduledFor, 'The run was not planned for the chosen instant');

  if (provider && restart) {
    await useAssistant(carillon, url, cleanUp);
    await watchPrice(carillon, { provider, restart }, cleanUp);
  } else {
    console.log();
    say(
      'The assistant, the changed price and the missed run are left out: they need an installation and a provider of the demo.',
    );
  }

  /** A failed execution is retried after a minute or more, which the demo does not wait for. */
  async function waitForResult(): Promise<TaskExecution> {
    let hasStarted = false;
    const signal = AbortSignal.timeout(RUN_TIMEOUT_MS);
    const kinds = ['task.started', 'task.completed', 'task.failed'] as const;
    for await (const { event, data } of carillon.events.stream({ after: '0', taskId, kinds, signal })) {
      hasStarted = true;
      if (event !== 'task.started') return (await carillon.executions.get(data.execution.id)).execution;
    }
    const reason = hasStarted ? 'The provider did not answer' : 'Does the scheduler run? No execution started';
    throw new Error(`${reason} within ${RUN_TIMEOUT_MS / 1000} seconds.`);
  }
}

function lastSundayOfMarch(year: number): Date {
  const last = new Date(Date.UTC(year, 2, 31));
  return new Date(Date.UTC(year, 2, 31 - last.getUTCDay()));
}

/** 02:30 in Berlin, in winter time. */
const dayBefore = (day: Date) => new Date(day.getTime() - 22.5 * 60 * 60 * 1000).toISOString();
