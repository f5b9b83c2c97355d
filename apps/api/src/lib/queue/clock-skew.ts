import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';

const MAX_SKEW_MS = 2000;

interface Dependencies {
  log: Pick<Logger, 'info' | 'warn'>;
  metrics: Pick<Metrics, 'clockCompared'>;
}

/** Compares the clock of this process with the database's, and logs once when they begin or cease to differ. */
export function createClockCheck({ log, metrics }: Dependencies) {
  let isSkewed = false;
  /** `askedAt` and `answeredAt` are of this process; the database read its clock in between. */
  return (databaseTime: Date, askedAt: Date, answeredAt: Date): void => {
    const marginMs = (answeredAt.getTime() - askedAt.getTime()) / 2;
    const skewMs = databaseTime.getTime() - askedAt.getTime() - marginMs;
    metrics.clockCompared(skewMs);
    const exceeds = Math.abs(skewMs) - marginMs > MAX_SKEW_MS;
    if (exceeds === isSkewed) return;
    isSkewed = exceeds;
    const fields = { clockSkewMs: Math.round(skewMs) };
    if (exceeds) {
      const side = skewMs > 0 ? 'behind' : 'ahead of';
      log.warn(fields, `the clock of this machine is ${side} the database's: synchronise both by NTP`);
    } else log.info(fields, "the clock of this machine agrees with the database's again");
  };
}
