import type { Test } from 'tap';
import type { Receiver } from '../../apps/api/test/support/servers/receiver.ts';
import { until } from '../../apps/api/test/support/until.ts';
import type { ApiProcess } from './api-process.ts';
import { type Answer, ask } from './clients.ts';

const PASSWORD = 'Journey-Passw0rd!';
let people = 0;

interface JourneyOptions {
  /** Requests go to one after the other. */
  apis: readonly ApiProcess[];
  receiver: Receiver;
}

/** Signs up, plans a task with a webhook, waits until it has run and is delivered, reads the lists, and deletes everything. */
export async function followJourney(t: Test, { apis, receiver }: JourneyOptions): Promise<void> {
  const email = `journey-${++people}@example.com`;
  let sent = 0;
  let token: unknown;
  const send = async (method: string, path: string, body?: object): Promise<Answer> => {
    const headers = {
      'x-request-token': 'true',
      ...(body && { 'content-type': 'application/json' }),
      ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
      ...(method === 'POST' && token ? { 'idempotency-key': `${email}-${sent}` } : {}),
    };
    const api = apis[sent++ % apis.length];
    const answer = await ask(`${api?.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (answer.status < 200 || answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };

  await send('POST', '/api/auth/register', { email, password: PASSWORD, name: 'Alice' });
  ({ token } = (await send('POST', '/api/auth/login', { email, password: PASSWORD })).body);
  const { body: hooked } = await send('POST', '/api/webhooks', {
    url: `${receiver.url}/${people}`,
    events: ['execution.completed'],
  });
  const { body: created } = await send('POST', '/api/agent/create-task', {
    name: 'A word',
    prompt: 'Answer with one word.',
    scheduledFor: new Date(Date.now() + 1500).toISOString(),
    recurrence: 'daily',
    timezone: 'Europe/Berlin',
  });
  const path = `/api/tasks/${created.taskId}`;
  const deliveries = () => receiver.received.filter(({ path }) => path === `/${people}`);
  await until(async () => {
    await apis[0]?.tick();
    return deliveries().length > 0;
  });
  t.match(JSON.parse(String(deliveries()[0]?.body)), {
    event: 'execution.completed',
    data: { task: { id: created.taskId } },
  });
  t.match((await send('GET', '/api/tasks')).body, { tasks: [{ id: created.taskId, status: 'active' }] });
  t.match((await send('GET', `/api/executions?taskId=${created.taskId}`)).body, {
    executions: [{ status: 'completed' }],
  });
  await send('GET', '/api/events');
  await send('PATCH', path, { name: 'Another word' });
  t.match((await send('GET', path)).body, { task: { name: 'Another word' } });
  await send('DELETE', path);
  await send('DELETE', `/api/webhooks/${(hooked.webhook as { id: string }).id}`);
  t.equal(deliveries().length, 1);
  await send('POST', '/api/auth/logout');
}
