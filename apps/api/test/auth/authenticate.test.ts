import { randomUUID } from 'node:crypto';
import { apiKeys, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { SessionClaims } from '../../src/context.ts';
import { authenticate, type Credentials } from '../../src/product/auth/authenticate.ts';
import { generateApiKey, hashApiKey } from '../../src/product/auth/tokens.ts';
import { testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { type Person, signUp, signUpAlice, signUpBob } from '../support/people.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const inactive = await signUp(app, { email: 'inactive@example.com' });
await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, inactive.id));

const claimsOf = ({ token }: Person) => ctx.tokens.verify(token, ctx.now()) as SessionClaims;
const keyOf = async (person: Person) => {
  const { secret } = await createKey(app, person);
  return { keyHash: hashApiKey(secret) };
};

t.test('Callers that are found together equal those that are found one after the other', async (t) => {
  const expired = await keyOf(alice);
  await ctx.db
    .update(apiKeys)
    .set({ expiresAt: new Date(ctx.now().getTime() - 1) })
    .where(eq(apiKeys.secretHash, expired.keyHash));
  const credentials: Credentials[] = [
    claimsOf(alice),
    claimsOf(bob),
    claimsOf(inactive),
    { ...claimsOf(alice), sessionId: randomUUID() },
    { ...claimsOf(alice), userId: bob.id },
    claimsOf(alice),
    await keyOf(alice),
    await keyOf(bob),
    await keyOf(alice),
    { keyHash: hashApiKey(generateApiKey()) },
    expired,
  ];
  const together = await Promise.all(credentials.map((each) => authenticate(ctx, each)));
  t.same(
    together.map((found) => found?.caller.id ?? null),
    [alice.id, bob.id, null, null, null, alice.id, alice.id, bob.id, alice.id, null, null],
  );
  for (const [n, each] of credentials.entries()) t.strictSame(together[n], await authenticate(ctx, each), String(n));
});

t.test('500 callers at once each find themselves', async (t) => {
  const people = await Promise.all(
    Array.from({ length: 20 }, (_, n) => signUp(app, { email: `many-${n}@example.com` })),
  );
  const asked = Array.from({ length: 500 }, (_, n) => people[n % 20] as Person);
  const found = await Promise.all(asked.map((person) => authenticate(ctx, claimsOf(person))));
  t.same(
    found.map((each) => each?.caller.id),
    asked.map(({ id }) => id),
  );
});
