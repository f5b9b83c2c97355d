import type { FastifyInstance } from 'fastify';

const MAX_SECONDS = 30;

declare module 'fastify' {
  interface FastifyInstance {
    outage: Outage;
  }
}

interface Outage {
  /** The `Retry-After` of a 503: as long as the outage has lasted, from 1 s to 30 s. */
  nextRetryAfter(): number;
}

/** An outage begins with the first 503 after a request of a user has succeeded. */
export function measureOutages(app: FastifyInstance, now: () => Date): void {
  let beganAt: number | null = null;
  app.decorate('outage', {
    nextRetryAfter() {
      const at = now().getTime();
      beganAt ??= at;
      return Math.min(Math.max(Math.ceil((at - beganAt) / 1000), 1), MAX_SECONDS);
    },
  });
  app.addHook('onResponse', async ({ routeOptions }, { statusCode }) => {
    if (statusCode < 400 && routeOptions.config.access !== 'public') beganAt = null;
  });
}
