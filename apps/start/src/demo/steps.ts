import { randomBytes } from 'node:crypto';
import { Carillon, type TaskExecution } from '@carillon/client/source';
import type { Texts } from '@carillon/texts';
import { DEMO_ANSWER } from './ai-provider.ts';
import { useAssistant } from './assistant.ts';
import type { Installation } from './installation.ts';
import { assert, printLine as say, printStep as step } from './print.ts';
import { watchPrice } from './watch-price.ts';

const DUE_IN_MS = 2000;
const RUN_TIMEOUT_MS = 30_000;

/** Uses the service as a user would, over HTTP, and prints each step. Throws if a check fails. */
export async function runSteps(
  installation: Installation,
  cleanUp: AsyncDisposableStack,
  demo: Texts['demo'],
): Promise<void> {
  const { url, provider, restart } = installation;
  const visitor = new Carillon({ baseUrl: url });
  const email = `demo-${randomBytes(4).toString('hex')}@example.com`;
  const password = `Demo-${randomBytes(12).toString('base64url')}-1`;

  step(1, demo.register);
  await visitor.auth.register({ name: 'Demo', email, password, timezone: 'Europe/Berlin' });
  const { token } = await visitor.auth.login({ email, password });
  const carillon = new Carillon({ baseUrl: url, apiKey: token });
  cleanUp.defer(async () => {
    await carillon.auth.logout().catch(() => {});
  });
  say(demo.signedIn(email));

  step(2, demo.preview);
  const spring = lastSundayOfMarch(new Date().getUTCFullYear() + 1);
  const { occurrences: planned } = await carillon.tasks.preview({
    scheduledFor: dayBefore(spring),
    recurrence: 'daily',
    timezone: 'Europe/Berlin',
    count: 3,
  });
  for (const { local, note } of planned) say(`${local}${note ? `  (${note})` : ''}`);
  assert(planned.length === 3, demo.threeRuns);
  assert(planned[1]?.note, demo.missingHour);

  const scheduledFor = new Date(Date.now() + DUE_IN_MS).toISOString();
  const prompt = 'Write one sentence that begins a working day well.';
  step(3, demo.save(DUE_IN_MS / 1000, scheduledFor));
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
  say(demo.task(taskId, prompt));

  step(4, demo.wait);
  const execution = await waitForResult();
  if (execution.status === 'failed') throw new Error(demo.runFailed(String(execution.error)));
  say(demo.completed(execution.id, execution.processingTimeMs, execution.model));
  say(demo.result(execution.result));
  assert(execution.result, demo.noResult);
  assert(provider === null || execution.result === DEMO_ANSWER, demo.otherAnswer);
  const { input = 0, output = 0, total = 0 } = execution.tokens ?? {};
  say(demo.tokens(input, output, total));
  assert(total > 0 && total === input + output, demo.notCounted);

  step(5, demo.ledger);
  const { occurrences } = await carillon.tasks.occurrences(taskId).page();
  for (const { plannedFor, fate, executionId, latenessMs } of occurrences) {
    say(`${plannedFor}  ${fate}  ${demo.lateness(executionId, latenessMs)}`);
  }
  const [run] = occurrences;
  assert(occurrences.length === 1 && run?.executionId === execution.id, demo.notOne);
  assert(run?.fate === 'ran' && run.plannedFor === scheduledFor, demo.otherInstant);

  if (provider && restart) {
    await useAssistant(carillon, url, cleanUp, demo);
    await watchPrice(carillon, { provider, restart }, cleanUp, demo);
  } else {
    console.log();
    say(demo.leftOut);
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
    throw new Error(demo[hasStarted ? 'noAnswer' : 'noExecution'](RUN_TIMEOUT_MS / 1000));
  }
}

function lastSundayOfMarch(year: number): Date {
  const last = new Date(Date.UTC(year, 2, 31));
  return new Date(Date.UTC(year, 2, 31 - last.getUTCDay()));
}

/** 02:30 in Berlin, in winter time. */
const dayBefore = (day: Date) => new Date(day.getTime() - 22.5 * 60 * 60 * 1000).toISOString();
