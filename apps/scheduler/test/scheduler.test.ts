import { type SchedulerOptions, startScheduler } from '@carillon/scheduler/scheduler';
import t, { type Test } from 'tap';
import { answer, fakeTimer, memoryLog, startApi, until } from './api.ts';

const HOUR_MS = 3_600_000;

function start(t: Test, apiUrl: string, options: Partial<SchedulerOptions> = {}) {
  const scheduler = startScheduler({
    apiUrl,
    cronSecret: 's3cret',
    intervalMs: HOUR_MS,
    log: memoryLog().log,
    ...options,
  });
  t.teardown(scheduler.stop);
  return scheduler;
}

t.test('The scheduler calls exactly at the instant that the API names', async (t) => {
  const timer = fakeTimer();
  const [due, calls]: [number[], number[]] = [[], []];
  const { url } = await startApi(t, (_request, response, call) => {
    calls.push(timer.now());
    due.push(timer.now() + 20 + call * 7);
    answer(response, due.at(-1) as number);
  });
  start(t, url, { timer });
  await until(() => calls.length > 12);
  t.strictSame(calls.slice(1, 12), due.slice(0, 11));
});

t.test('By the clock of the system, the scheduler never calls before the instant that the API names', async (t) => {
  const due: number[] = [];
  const { url, calls } = await startApi(t, (_request, response, call) => {
    due.push(Date.now() + 20 + call * 7);
    answer(response, due.at(-1) as number);
  });
  start(t, url);
  await until(() => calls.length > 12);
  const lateness = calls.slice(1).map((call, index) => call - (due[index] as number));
  t.ok(Math.min(...lateness) >= 0, `late by ${lateness.join(', ')} ms`);
});

t.test('The scheduler calls at the interval if nothing is due sooner', async (t) => {
  const timer = fakeTimer();
  const calls: number[] = [];
  const { url } = await startApi(t, (_request, response, call) => {
    calls.push(timer.now());
    answer(response, call % 2 ? null : timer.now() + HOUR_MS);
  });
  start(t, url, { intervalMs: 20, timer });
  await until(() => calls.length > 5);
  t.strictSame(calls.slice(0, 6), [0, 20, 40, 60, 80, 100]);
});

t.test('What stays due, as in maintenance mode, is called for at the interval', async (t) => {
  const timer = fakeTimer(10_000);
  const calls: number[] = [];
  const { url } = await startApi(t, (_request, response) => {
    calls.push(timer.now());
    answer(response, 9000);
  });
  start(t, url, { intervalMs: 50, timer });
  await until(() => calls.length > 3);
  t.strictSame(calls.slice(0, 4), [10_000, 10_050, 10_100, 10_150]);
});

t.test('Each call carries the secret and does not wait for the executions', async (t) => {
  const { url, calls } = await startApi(t, (request, response) => {
    t.equal(request.method, 'GET');
    t.equal(request.url, '/api/cron/scheduler');
    t.match(request.headers, { authorization: 'Bearer s3cret', prefer: 'respond-async' });
    answer(response, null);
  });
  start(t, url);
  await until(() => calls.length > 0);
});

t.test('All calls share one connection', async (t) => {
  const ports = new Set<number | undefined>();
  const { url, calls } = await startApi(t, (request, response) => {
    ports.add(request.socket.remotePort);
    answer(response, null);
  });
  start(t, url, { timer: fakeTimer() });
  await until(() => calls.length > 5);
  t.equal(ports.size, 1);
});

t.test('The scheduler continues after failures, and logs each kind once', async (t) => {
  const { log, messages } = memoryLog();
  const { url, calls } = await startApi(t, (request, response, call) => {
    if (call <= 2) response.writeHead(500).end('{}');
    else if (call <= 4) response.end('no JSON');
    else if (call === 5) request.socket.destroy();
    else if (call === 6) response.writeHead(401).end('{}');
    else answer(response, null);
  });
  start(t, url, { timer: fakeTimer(), log });
  await until(() => calls.length > 8);
  const reasons = messages.map((message) => /: (.*)\. Retrying\./.exec(message)?.[1] ?? 'success');
  t.match(reasons, ['it answered 500', 'it did not answer with JSON', /.+/, 'its CRON_SECRET differs', 'success']);
  t.equal(reasons.length, 5);
});

t.test(
  'After a 503, the scheduler calls again sooner than at its interval, after other failures it does not',
  async (t) => {
    for (const [status, intervalMs, expected] of [
      [503, HOUR_MS, [0, 250, 500, 750]],
      [503, 100, [0, 100, 200, 300]],
      [500, 1000, [0, 1000, 2000, 3000]],
      [401, 1000, [0, 1000, 2000, 3000]],
    ] as const) {
      const timer = fakeTimer();
      const calls: number[] = [];
      const { url } = await startApi(t, (_request, response) => {
        calls.push(timer.now());
        response.writeHead(status).end('{}');
      });
      start(t, url, { intervalMs, timer });
      await until(() => calls.length > 3);
      t.strictSame(calls.slice(0, 4), expected, `${status} at ${intervalMs} ms`);
    }
  },
);

t.test('A call that is not answered is given up after its timeout', async (t) => {
  const { log, messages } = memoryLog();
  const { url } = await startApi(t, () => {});
  start(t, url, { timeoutMs: 50, log });
  await until(() => messages.length > 0);
  t.match(messages, [/: it did not answer within 50 ms\. Retrying\./]);
});

t.test('The scheduler waits for an API that does not run yet', async (t) => {
  const { log, messages } = memoryLog();
  start(t, 'http://127.0.0.1:9', { timer: fakeTimer(), log });
  await until(() => messages.length > 0);
  t.match(messages, [/cannot trigger http:\/\/127.0.0.1:9: .*ECONNREFUSED/]);
});

t.test('Stopping ends the wait for the next call', async (t) => {
  const { url, calls } = await startApi(t, (_request, response) => answer(response, null));
  const scheduler = start(t, url);
  await until(() => calls.length > 0);
  await scheduler.stop();
  await scheduler.stop();
  t.equal(calls.length, 1);
});

t.test('Stopping aborts a call in flight', async (t) => {
  const { log, messages } = memoryLog();
  const { url, calls } = await startApi(t, () => {});
  const scheduler = start(t, url, { log });
  await until(() => calls.length > 0);
  await scheduler.stop();
  t.strictSame(messages, []);
});
