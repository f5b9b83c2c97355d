import type { Carillon, EventKind, WebhookEvent } from '@carillon/client/source';
import type { Texts } from '@carillon/texts';
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
  demo: Texts['demo'],
): Promise<void> {
  const webhook = await startReceiver<WebhookEvent>(demo);
  cleanUp.defer(webhook.close);

  step(7, demo.watch);
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
  assert(change, demo.noChange);
  say(demo.change(webhook.received.length, change.path, String(change.from), String(change.to)));
  assert(webhook.received.length === 1, demo.unchangedSent);
  assert(change.from === 49 && change.to === 39, demo.otherChange);

  step(8, demo.miss);
  await restart(2 * HOUR_MS);
  const overdue = await waitFor('task.overdue');
  const recovered = await waitFor('task.recovered');
  const { alerts } = await carillon.alerts.list({ taskId }).page();
  for (const { kind, title, message } of alerts.toReversed()) say(`${kind}  ${title}. ${message}`);
  assert(alerts.length === 2, demo.notTwoAlerts);
  const { occurrences } = await carillon.tasks.occurrences(taskId).page();
  for (const { plannedFor, fate, executionId } of occurrences)
    say(`${plannedFor}  ${fate}  ${demo.execution(executionId)}`);
  const [missed] = occurrences;
  assert(missed?.plannedFor === overdue.data.plannedFor, demo.otherAlert);
  assert(missed.executionId === recovered.data.execution?.id, demo.notMadeUp);
  say(demo.webhookGot(webhook.received.map(({ event }) => event).join(', ')));

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
      const outcome = { true: demo.changed, false: demo.unchanged, null: demo.first }[String(execution.changed)];
      say(`${demo.execution(executionId)}: ${execution.result}, ${outcome}`);
      return;
    }
    throw new Error(demo.notEnded(RUN_TIMEOUT_MS / 1000));
  }
}
