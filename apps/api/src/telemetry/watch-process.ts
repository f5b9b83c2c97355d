import type { PoolState } from '@carillon/db/pool';
import type { Context } from '../context.ts';
import { addGauges } from './gauges.ts';
import { createInstruments } from './instruments.ts';
import { startMetricsServer } from './metrics-server.ts';

/**
 * Makes the metrics of this process those of `ctx`, and answers `GET /metrics` until it is disposed of. Called before
 * anything else takes `ctx`. Throws a `ConfigError` where it cannot listen at the address.
 */
export async function watchProcess(
  ctx: Context,
  address: { host: string; port: number },
  poolState: () => PoolState,
): Promise<AsyncDisposable & { url: string }> {
  const instruments = createInstruments();
  const { registry } = instruments;
  ctx.metrics = instruments;
  const readGauges = addGauges(registry, ctx, poolState);
  const { url, close } = await startMetricsServer(ctx, address, async () => {
    await readGauges();
    return { contentType: registry.contentType, text: await registry.metrics() };
  });
  return { url, [Symbol.asyncDispose]: close };
}
