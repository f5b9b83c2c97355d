import { mails, passwordResets, users } from '@carillon/db';
import t from 'tap';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { pruneAll } from '../../src/product/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUpAlice } from '../support/people.ts';
import { getResetToken } from '../support/servers/mail-server.ts';

const HOUR_MS = 3_600_000;
const NEW = 'Another-2026';

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(mails);
  await ctx.db.delete(users);
});

const reset = (token: unknown, newPassword: unknown = NEW) =>
  app.inject({ method: 'POST', url: '/api/auth/reset-password', payload: { token, newPassword } as object });
const validate = (token: string) => app.inject({ url: '/api/auth/validate-reset-token', query: { token } });

async function tokenOf({ email }: Person): Promise<string> {
  const issued = await composeReset(ctx, email);
  return getResetToken({ text: issued?.link });
}

/** The answers of both endpoints for a token. */
async function readAnswers(token: string) {
  const [validated, submitted] = [await validate(token), await reset(token)];
  return [validated.statusCode, validated.json(), submitted.statusCode, submitted.json()];
}

t.test('Validating a token does not use it', async (t) => {
  const alice = await signUpAlice(app);
  const token = await tokenOf(alice);
  for (let n = 0; n < 3; n++) {
    const answer = await validate(token);
    t.same([answer.statusCode, answer.json()], [200, { valid: true, userId: alice.id }]);
  }
  t.equal((await reset(token)).statusCode, 200);
});

t.test('A token is valid for an hour', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  clock.advance(HOUR_MS - 1);
  t.equal((await validate(token)).statusCode, 200);
  clock.advance(1);
  const error = 'Token expirado';
  t.same(await readAnswers(token), [400, { valid: false, error }, 400, { success: false, error }]);
});

t.test('Any other text is an unknown token', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  const [stored] = await ctx.db.select().from(passwordResets);
  const error = 'Token inválido';
  for (const alien of [
    '',
    'x',
    'f'.repeat(64),
    token.toUpperCase(),
    ` ${token}`,
    token.slice(0, 63),
    `${token}0`,
    stored?.tokenHash as string,
    '\u0131'.repeat(64),
    "' or 1=1 --",
    'x'.repeat(5000),
  ]) {
    t.same(
      await readAnswers(alien),
      [400, { valid: false, error }, 400, { success: false, error }],
      alien.slice(0, 70),
    );
  }
});

t.test('A token of a deactivated or deleted account is unknown', async (t) => {
  const alice = await signUpAlice(app);
  const error = 'Token inválido';
  const token = await tokenOf(alice);
  await ctx.db.update(users).set({ isActive: false });
  t.same(await readAnswers(token), [400, { valid: false, error }, 400, { success: false, error }]);
  await ctx.db.delete(users);
  t.same(await readAnswers(token), [400, { valid: false, error }, 400, { success: false, error }]);
});

t.test('A token is deleted after 30 days', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  clock.advance(30 * 24 * HOUR_MS);
  await pruneAll(ctx);
  t.equal((await validate(token)).json().error, 'Token expirado');
  clock.advance(1);
  await pruneAll(ctx);
  t.equal((await validate(token)).json().error, 'Token inválido');
});
