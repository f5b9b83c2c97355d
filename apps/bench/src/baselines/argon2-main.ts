import { setTimeout as delay } from 'node:timers/promises';
import { verify } from '@node-rs/argon2';

const { HASH = '', PASSWORD = '', MS = '0', IN_FLIGHT = '1' } = process.env;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await verify(HASH, PASSWORD);
let verified = 0;
let stopped = false;
async function verifyRepeatedly() {
  while (!stopped) {
    if (!(await verify(HASH, PASSWORD))) throw new Error('The password does not match the hash.');
    verified += 1;
  }
}
const startedAt = performance.now();
const loops = Array.from({ length: Number(IN_FLIGHT) }, verifyRepeatedly);
await delay(Number(MS));
stopped = true;
await Promise.all(loops);
console.log(`done: ${((verified / (performance.now() - startedAt)) * 1000).toFixed(3)} per second`);
