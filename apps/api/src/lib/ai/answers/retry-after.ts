import type { IncomingHttpHeaders } from 'node:http';
import { DAY_MS } from '@carillon/contract/primitives';

const RESETS = ['x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens', 'ratelimit-reset'];
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** A day at most. A date counts from the response's own date, so that no clock has to be right, if it has one. */
export function readRetryAfterMs(headers: IncomingHttpHeaders): number | null {
  const read = (name: string) => String(headers[name] ?? '').trim();
  const now = Date.parse(read('date')) || performance.timeOrigin + performance.now();
  const given = read('retry-after');
  const waits = [
    toNumber(read('retry-after-ms')),
    toNumber(given) * 1000,
    / GMT$/.test(given) ? Date.parse(given) - now : toDuration(given),
    ...RESETS.filter((name) => ['', '0'].includes(read(name.replace('reset', 'remaining')))).map((name) =>
      toReset(read(name), now),
    ),
  ];
  const wait = waits.find((one) => !Number.isNaN(one));
  return wait === undefined ? null : Math.min(Math.max(Math.round(wait), 0), DAY_MS);
}

const toNumber = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN);

function toDuration(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return Number.NaN;
  const parts = text.matchAll(/([\d.]+)(ms|[smhd])/g);
  return [...parts].reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
}

/** Seconds, or an instant in seconds or milliseconds. */
function toReset(text: string, now: number): number {
  const value = toNumber(text);
  if (value > 1e12) return value - now;
  return value > 1e9 ? value * 1000 - now : Number.isNaN(value) ? toDuration(text) : value * 1000;
}
