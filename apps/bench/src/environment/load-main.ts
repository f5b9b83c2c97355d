import autocannon from 'autocannon';
import type { LoadOptions } from './load.ts';

// The load as a process of its own: takes its orders one by one over IPC, and answers with what it has measured.
process.on('message', (options: LoadOptions) => {
  send(options).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));

async function send({ url, connections, requests, until, rate }: LoadOptions) {
  let at = 0;
  const startedAt = performance.now();
  const result = await autocannon({
    url,
    connections,
    // It looks every so often whether it is over, and at whole seconds for its rate.
    ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests, sampleInt: 50 }),
    ...(rate && { overallRate: rate }),
    setupClient(client) {
      // Written out for each client: autocannon sets its own fields on what it is given.
      client.setRequests((requests[at % requests.length] ?? []).map((request) => ({ ...request })));
      at += 1;
    },
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0 || result['2xx'] === 0)
    throw new Error(`${bad} of ${bad + result['2xx']} requests were not answered well.`);
  return {
    requestsPerSecond: result['2xx'] / ('seconds' in until ? result.duration : seconds),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}
