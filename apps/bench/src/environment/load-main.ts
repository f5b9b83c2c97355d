import autocannon from 'autocannon';
import { quantile, sortAscending } from '../statistics.ts';
import type { LoadOptions } from './load.ts';

// Receives loads over IPC one by one and answers with the results.
process.on('message', (options: LoadOptions) => {
  send(options).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));

async function send({ url, connections, requests, until, rate }: LoadOptions) {
  let client = 0;
  const startedAt = performance.now();
  const { result, ascending } = await run({
    // It takes several as well, which its types do not know.
    url: url as string,
    connections,
    // autocannon checks for the end at every sample, one second by default.
    ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests, sampleInt: 50 }),
    ...(rate && { overallRate: rate }),
    setupClient(connection) {
      // Copied, because autocannon modifies the requests.
      connection.setRequests((requests[client % requests.length] ?? []).map((request) => ({ ...request })));
      client += 1;
    },
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0 || result['2xx'] === 0) throw new Error(`${failed} of ${failed + result['2xx']} requests failed.`);
  return {
    requestsPerSecond: result['2xx'] / ('seconds' in until ? result.duration : seconds),
    p50Ms: quantile(ascending, 0.5),
    p99Ms: quantile(ascending, 0.99),
  };
}

/** The times of the requests are counted here, because autocannon's histogram has whole milliseconds. */
function run(options: autocannon.Options): Promise<{ result: autocannon.Result; ascending: number[] }> {
  const times: number[] = [];
  return new Promise((resolve, reject) => {
    const running = autocannon(options, (error, result) =>
      error ? reject(error) : resolve({ result, ascending: sortAscending(times) }),
    );
    running.on('response', (_client, _status, _bytes, ms) => times.push(ms));
  });
}
