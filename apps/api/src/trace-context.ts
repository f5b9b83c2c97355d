import { tracedAi } from './ai/tracing.ts';
import type { Context } from './context.ts';
import { openTrace } from './telemetry/tracing.ts';

/**
 * Has what `ctx` does traced from now on, where the configuration names a collector. The function that is returned sends
 * what is left, for 2 s at most.
 */
export async function traceContext(ctx: Context): Promise<() => Promise<void>> {
  const trace = await openTrace(ctx.config.tracing, ctx.log);
  ctx.trace = trace;
  ctx.ai = tracedAi(ctx.ai, trace, ctx.config.ai);
  return trace.close;
}
