import type { Carillon, EventKind, WebhookEvent } from '@carillon/client/source';
import type { DemoProvider } from './ai-provider.ts';
import { assert, printLine as say, printStep as step } from './print.ts';
import { startReceiver } from './receiver.ts';

const HOUR_MS = 60 * 60 * 1000;
const RUN_TIMEOUT_MS = 30_000;

interface Surroundings {
  provider: DemoProvider;
  restart: (aheadMs: number) => Promise<void>;
}

/** A task that sends nothing while its output stays the same, and an alert when its run does not come. */
export async function watchPrice(
  carillon: Carillon,
  { provider, restart }: Surroundings,
  cleanUp: AsyncDisposableStack,
): Promise<void> {
  const webhook = await startReceiver<WebhookEvent>();
  cleanUp.defer(webhook.close);

  step(7, 'Watch a price: the webhook gets a result only if it has changed');
  const { taskId } = await carillon.tasks.create({
    name: 'Price watch',
    prompt: 'What does the kettle cost?',
    outputSchema: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
    watch: ['price'],
    notify: 'change',
    webhookUrl: webhook.url,
    alerts: { overdueMinutes: 1 },
    scheduledFor: new Date(Date.now() + HOUR_MS).toISOString(),
    recurrence: 'daily',
    timezone: 'Europe/Berlin',
  });
  for (const price of [49, 49, 39]) {
    provider.price = price;
    await runOnce();
  }
  const { data } = await waitFor('execution.completed');
  const [change] = data.execution.changes ?? [];
  assert(change, 'The webhook did not get the change');
  say(
    `the webhook got ${webhook.received.length} of 3 results: ${change.path} changed from ${change.from} to ${change.to}`,
  );
  assert(webhook.received.length === 1, 'The webhook got a result that has not changed');
  assert(change.from === 49 && change.to === 39, 'The change is not that of the price');

  step(8, 'Miss a run: Carillon is stopped, and starts again with its clock two hours ahead');
  await restart(2 * HOUR_MS);
  const overdue = await waitFor('task.overdue');
  const recovered = await waitFor('task.recovered');
  const { alerts } = await carillon.alerts.list({ taskId }).page();
  for (const { kind, title, message } of alerts.toReversed()) say(`${kind}  ${title}. ${message}`);
  assert(alerts.length === 2, 'There is not one alert of the silence and one of its end');
  const { occurrences } = await carillon.tasks.occurrences(taskId).page();
  for (const { plannedFor, fate, executionId } of occurrences) say(`${plannedFor}  ${fate}  execution ${executionId}`);
  const [missed] = occurrences;
  assert(missed?.plannedFor === overdue.data.plannedFor, 'The alert is not about the missed run');
  assert(missed.executionId === recovered.data.execution.id, 'The missed run was not made up for');
  say(`the webhook got ${webhook.received.map(({ event }) => event).join(', ')}`);

  function waitFor<Kind extends EventKind>(kind: Kind) {
    type Wanted = Extract<WebhookEvent, { event: Kind }>;
    return webhook.waitFor(kind, (one): one is Wanted => one.event === kind);
  }

  async function runOnce() {
    const { executionId } = await carillon.tasks.run(taskId);
    const signal = AbortSignal.timeout(RUN_TIMEOUT_MS);
    for await (const { data } of carillon.events.stream({ after: '0', taskId, kinds: ['task.completed'], signal })) {
      if (data.execution.id !== executionId) continue;
      const { execution } = await carillon.executions.get(executionId);
      const outcome = { true: 'changed', false: 'unchanged', null: 'the first result' }[String(execution.changed)];
      say(`execution ${executionId}: ${execution.result}, ${outcome}`);
      return;
    }
    throw new Error(`The run did not end within ${RUN_TIMEOUT_MS / 1000} seconds.`);
  }
}
