import { setTimeout as delay } from 'node:timers/promises';
import { verify } from '@node-rs/argon2';

// Verifications and nothing else, two in flight; hash and password as the logins have them. Says how many a second.
const { HASH = '', PASSWORD = '', MS = '0' } = process.env;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await verify(HASH, PASSWORD);
let verified = 0;
let over = false;
async function lane() {
  while (!over) {
    if (!(await verify(HASH, PASSWORD))) throw new Error('The password is not the one that was hashed.');
    verified += 1;
  }
}
const startedAt = performance.now();
const lanes = [lane(), lane()];
await delay(Number(MS));
over = true;
await Promise.all(lanes);
console.log(`done: ${((verified / (performance.now() - startedAt)) * 1000).toFixed(3)} a second`);
