import { randomBytes } from 'node:crypto';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { testContext } from '../support/context.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { getResetToken } from '../support/servers/mail-server.ts';

/** `samples` for each kind. Equal times exceed `fair` once in 40,000 runs; `SAMPLES=1000` for a measurement. */
const FINE = { samples: Number(process.env.SAMPLES ?? 300), fair: 0.1 };
/** For answers that take a hash, which is missing where an account is treated differently. */
const HASHED = { samples: Number(process.env.SAMPLES ?? 50), fair: 0.25 };
t.setTimeout(600_000);

const { app, ctx } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '100000', LOG_LEVEL: 'silent' } });
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, bob.id));

type Answer = Awaited<ReturnType<typeof app.inject>>;
type Ask = () => Promise<Answer>;

const post =
  (url: string, payload: object): Ask =>
  () =>
    app.inject({ method: 'POST', url, payload });

t.test('A sign-in with a wrong password takes as long for an active, a deactivated and an unknown account', (t) => {
  const logIn = (email: string) => post('/api/auth/login', { email, password: 'Wrong-2026' });
  const asked = {
    known: logIn('alice@example.com'),
    unknown: logIn('nobod@example.com'),
    deactivated: logIn('bob@example.com'),
  };
  return assertAlike(t, asked, HASHED);
});

t.test('A reset request takes as long for an active, a deactivated and an unknown account', (t) => {
  const forgot = (email: string) => post('/api/auth/forgot-password', { email });
  return assertAlike(t, {
    known: forgot('alice@example.com'),
    unknown: forgot('nobod@example.com'),
    deactivated: forgot('bob@example.com'),
  });
});

t.test('An unknown token and one of a deactivated account take as long', async (t) => {
  const issued = await composeReset(ctx, alice.email);
  const known = getResetToken({ text: issued?.link });
  await ctx.db.update(users).set({ isActive: false });
  t.teardown(() => ctx.db.update(users).set({ isActive: true }).where(eq(users.id, alice.id)));
  const unknown = randomBytes(32).toString('hex');
  for (const ask of [
    (token: string) => async () => app.inject({ url: '/api/auth/validate-reset-token', query: { token } }),
    (token: string) => post('/api/auth/reset-password', { token, newPassword: 'Another-2026' }),
  ]) {
    await assertAlike(t, { known: ask(known), unknown: ask(unknown) });
  }
});

t.test('The measurement finds a difference that exists', async (t) => {
  t.equal(areaUnderCurve([3, 4, 5], [0, 1, 2]), 1);
  t.equal(areaUnderCurve([0, 1, 2], [3, 4, 5]), 0);
  t.equal(areaUnderCurve([0, 3], [1, 2]), 0.5);
});

interface Asserts {
  same(found: unknown, wanted: unknown): boolean;
  ok(value: unknown, message: string): boolean;
  comment(text: string): void;
}

/** Asserts that all answers are equal, and that their times cannot be distinguished. */
async function assertAlike(t: Asserts, asked: Record<string, Ask>, { samples, fair } = FINE) {
  const all = Object.entries(asked).map(([name, ask]) => ({ name, ask, times: [] as number[] }));
  for (let n = 0; n < 5; n++) {
    const answers = await Promise.all(all.map(async ({ ask }) => answered(await ask())));
    for (const answer of answers) t.same(answer, answers[0]);
  }
  for (let n = 0; n < samples; n++) {
    // Alternating, each kind first in turn, so that other load on the machine slows all of them alike.
    const from = Math.floor(Math.random() * all.length);
    for (const { ask, times } of [...all.slice(from), ...all.slice(0, from)]) {
      const began = performance.now();
      await ask();
      times.push(performance.now() - began);
    }
  }
  const [first, ...others] = all.map(({ name, times }) => ({ name, times }));
  for (const { name, times } of others) {
    const auc = areaUnderCurve(first?.times ?? [], times);
    const figure = `${first?.name} against ${name}, ${samples} of each: AUC ${auc.toFixed(3)}`;
    t.comment(figure);
    t.ok(Math.abs(auc - 0.5) <= fair, figure);
  }
}

function answered({ statusCode, headers, body }: Answer) {
  return [statusCode, body, Object.keys(headers).toSorted()];
}

/** How often a time of `one` is longer than one of `other`: a half if they cannot be distinguished. */
function areaUnderCurve(one: readonly number[], other: readonly number[]): number {
  const sorted = other.toSorted((a, b) => a - b);
  const wins = one.map((time) => {
    const at = sorted.findIndex((than) => than >= time);
    return at === -1 ? sorted.length : at;
  });
  return wins.reduce((sum, won) => sum + won, 0) / (one.length * other.length);
}
