import { hashPassword } from '@carillon/api/auth/passwords';
import type { Benchmark } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { insertUsers } from '../environment/users.ts';
import { printPercentiles } from '../statistics.ts';

const SAMPLES = 1000;
const WARM_UP = 50;

/** Whether the time of an answer tells which addresses have accounts: over HTTP, with the worker at work. */
export const equalAnswers: Benchmark = {
  about: `${SAMPLES} log-ins and resets for a known and an unknown address: can their times be told apart`,
  async run(stack, environment) {
    const { apiUrl, db, jwtSecret } = await install(stack, environment, { core: null });
    const passwordHash = await hashPassword('Carillon-2026');
    const [person] = await insertUsers(db, { count: 1, jwtSecret, passwordHash });
    const known = person?.email ?? '';
    // Nobody's, and as long.
    const unknown = known.replace('person', 'nobody');
    for (const [path, rest] of [
      ['/api/auth/login', { password: 'Wrong-2026' }],
      ['/api/auth/forgot-password', {}],
    ] as const) {
      const ask = (email: string) => time(`${apiUrl}${path}`, { email, ...rest });
      for (let n = 0; n < WARM_UP; n++) await Promise.all([ask(known), ask(unknown)]);
      const knownMs: number[] = [];
      const unknownMs: number[] = [];
      for (let n = 0; n < SAMPLES; n++) {
        // In turn, and now this one first and now that one: whatever else the machine does slows both alike.
        const knownFirst = Math.random() < 0.5;
        if (knownFirst) knownMs.push(await ask(known));
        unknownMs.push(await ask(unknown));
        if (!knownFirst) knownMs.push(await ask(known));
      }
      console.log(
        `\n${path}, ${SAMPLES} of each: AUC ${areaUnderCurve(knownMs, unknownMs).toFixed(3)} (0.5 tells nothing)`,
      );
      printPercentiles({ 'known (ms)': knownMs, 'unknown (ms)': unknownMs });
    }
    return [];
  },
};

async function time(url: string, body: object): Promise<number> {
  const began = performance.now();
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  const took = performance.now() - began;
  if (answer.status !== 200 && answer.status !== 401) throw new Error(`${url} answered ${answer.status}.`);
  return took;
}

/** How often a time of `one` is longer than a time of `other`. */
function areaUnderCurve(one: readonly number[], other: readonly number[]): number {
  const longer = one.map((time) => other.filter((than) => than < time).length);
  return longer.reduce((sum, count) => sum + count, 0) / (one.length * other.length);
}
