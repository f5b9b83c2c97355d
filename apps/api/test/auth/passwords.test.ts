import { readdirSync } from 'node:fs';
import { availableParallelism, constants, getPriority, platform } from 'node:os';
import { type Algorithm, hash } from '@node-rs/argon2';
import t from 'tap';
import { hashPassword, needsRehash, verifyPassword } from '../../src/product/auth/passwords.ts';

t.test('A password is hashed with argon2id at 19 MiB, two passes and one lane', async (t) => {
  t.match(await hashPassword('Carillon1'), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.not(await hashPassword('Carillon1'), await hashPassword('Carillon1'));
});

t.test('Only the password itself is right', async (t) => {
  const made = await hashPassword('Carillon1 ünïcode 🔔');
  t.equal(await verifyPassword(made, 'Carillon1 ünïcode 🔔'), true);
  for (const wrong of ['', 'carillon1 ünïcode 🔔', 'Carillon1 ünïcode 🔔 ', 'Carillon1 unicode 🔔']) {
    t.equal(await verifyPassword(made, wrong), false);
  }
});

t.test('A long password is not truncated', async (t) => {
  const long = `Aa1${'🔔'.repeat(125)}`;
  const made = await hashPassword(long);
  t.equal(await verifyPassword(made, long), true);
  t.equal(await verifyPassword(made, `${long.slice(0, -2)}🔕`), false);
});

t.test('A password is the same in all Unicode spellings', async (t) => {
  const made = await hashPassword('Cafe\u0301 2026');
  t.equal(await verifyPassword(made, 'Caf\u00e9 2026'), true);
  t.equal(await verifyPassword(made, 'Caf\u00e9 \uff12\uff10\uff12\uff16'), true);
});

t.test('An account without a password has no right password', async (t) => {
  t.equal(await verifyPassword(null, 'Carillon1'), false);
});

t.test('Hashes with weaker parameters need a rehash', async (t) => {
  t.equal(needsRehash(await hashPassword('Carillon1')), false);
  t.equal(needsRehash(await hash('Carillon1', { memoryCost: 65_536, timeCost: 3, parallelism: 1 })), false);
  for (const weaker of [{ memoryCost: 12_288 }, { timeCost: 1 }, { algorithm: 1 as Algorithm }]) {
    t.equal(needsRehash(await hash('Carillon1', { memoryCost: 19_456, timeCost: 2, ...weaker })), true);
  }
});

t.test('Hash threads have a low priority, and are no more than the limit', async (t) => {
  const before = getPriority();
  await Promise.all(Array.from({ length: 20 }, () => verifyPassword(null, 'Carillon1')));
  t.equal(getPriority(), before);
  if (platform() !== 'linux' || before >= constants.priority.PRIORITY_BELOW_NORMAL) return;
  const priorities = readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
  const low = priorities.filter((priority) => priority === constants.priority.PRIORITY_BELOW_NORMAL);
  t.ok(low.length >= 1 && low.length <= Math.min(availableParallelism(), 4));
});

t.test('An invalid hash rejects, and the next password is verified all the same', async (t) => {
  const made = await hashPassword('Carillon1');
  await t.rejects(verifyPassword('nonsense', 'Carillon1'));
  t.equal(await verifyPassword(made, 'Carillon1'), true);
});
