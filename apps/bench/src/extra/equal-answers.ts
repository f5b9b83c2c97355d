import { hashPassword } from '@carillon/api/auth/passwords';
import type { Benchmark } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { insertUsers } from '../environment/users.ts';
import { printPercentiles } from '../statistics.ts';

const SAMPLES = 1000;
const WARM_UP = 50;

export const equalAnswers: Benchmark = {
  about: `response times of ${SAMPLES} logins and password resets for a known and an unknown email address`,
  async run(stack, environment) {
    const { apiUrl, db, jwtSecret } = await install(stack, environment, { core: null });
    const passwordHash = await hashPassword('Carillon-2026');
    const [user] = await insertUsers(db, { count: 1, jwtSecret, passwordHash });
    const known = user?.email ?? '';
    // Of the same length.
    const unknown = known.replace('person', 'nobody');
    for (const [path, rest] of [
      ['/api/auth/login', { password: 'Wrong-2026' }],
      ['/api/auth/forgot-password', {}],
    ] as const) {
      const request = (email: string) => time(`${apiUrl}${path}`, { email, ...rest });
      for (let n = 0; n < WARM_UP; n++) await Promise.all([request(known), request(unknown)]);
      const knownMs: number[] = [];
      const unknownMs: number[] = [];
      for (let n = 0; n < SAMPLES; n++) {
        // In random order, so that other load on the machine affects both alike.
        const knownFirst = Math.random() < 0.5;
        if (knownFirst) knownMs.push(await request(known));
        unknownMs.push(await request(unknown));
        if (!knownFirst) knownMs.push(await request(known));
      }
      console.log(
        `\n${path}, ${SAMPLES} of each: AUC ${areaUnderCurve(knownMs, unknownMs).toFixed(3)} (0.5: indistinguishable)`,
      );
      printPercentiles({ 'known (ms)': knownMs, 'unknown (ms)': unknownMs });
    }
    return [];
  },
};

async function time(url: string, body: object): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  const duration = performance.now() - startedAt;
  if (response.status !== 200 && response.status !== 401) throw new Error(`${url} answered ${response.status}.`);
  return duration;
}

/** The probability that a time of `first` is longer than one of `second`. */
function areaUnderCurve(first: readonly number[], second: readonly number[]): number {
  const longer = first.map((time) => second.filter((other) => other < time).length);
  return longer.reduce((sum, count) => sum + count, 0) / (first.length * second.length);
}
