import type { users } from '@carillon/db';
import type { FastifyInstance } from 'fastify';
import type { Caller, Context } from '../../src/context.ts';
import { authenticate } from '../../src/product/auth/authenticate.ts';
import { openSession } from '../../src/product/auth/sessions.ts';
import { insertAccount } from '../../src/product/auth/write.ts';
import { ADMIN_KEY, getContext } from './context.ts';

/** The password of every user. */
export const PASSWORD = 'Carillon-2026';
/** With the parameters of the service. Made beforehand, because every test file would take 0.1 s for it. */
const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$sBX+gluwTCX3XM92dy2A2g$fDojmdSll/NkUKyFg1peerShXloQwSQcWnU2LXdPem8';

export interface Person {
  id: number;
  name: string;
  email: string;
  token: string;
  /** With the admin key for an admin. */
  headers: { authorization: string; 'x-admin-key'?: string };
}

interface PersonValues {
  name?: string;
  /** Default: a unique address. */
  email?: string;
  role?: (typeof users.$inferSelect)['role'];
  timezone?: string;
}

let people = 0;

/** Creates a trial account and a session through the service functions. */
export async function signUp(app: FastifyInstance, traits: PersonValues = {}): Promise<Person> {
  const ctx = getContext(app);
  people += 1;
  const { name = 'Alice', email = `${name.toLowerCase()}-${people}@example.com`, role = 'USER', timezone } = traits;
  const user = await insertAccount(ctx, { name, email, role, timezone, passwordHash: PASSWORD_HASH });
  if (!user) throw new Error(`${email} is taken.`);
  const { token } = await openSession({ ...ctx, origin: { address: '127.0.0.1', userAgent: undefined } }, user.id);
  const admin = role === 'ADMIN' ? { 'x-admin-key': ADMIN_KEY } : {};
  return { id: user.id, name, email: user.email, token, headers: { authorization: `Bearer ${token}`, ...admin } };
}

export const signUpAlice = (app: FastifyInstance) => signUp(app, { name: 'Alice', email: 'alice@example.com' });
export const signUpBob = (app: FastifyInstance) => signUp(app, { name: 'Bob', email: 'bob@example.com' });
export const signUpAda = (app: FastifyInstance) =>
  signUp(app, { name: 'Ada', email: 'ada@example.com', role: 'ADMIN' });

/** Finds the caller as the guard does, without rate limits. */
/** Gives the password again, as a session older than 15 minutes has to. */
export async function confirmSession(app: FastifyInstance, { headers }: Pick<Person, 'headers'>): Promise<void> {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/auth/confirm',
    headers,
    payload: { password: PASSWORD },
  });
  if (answer.statusCode !== 200) throw new Error(answer.body);
}

export async function findCallerByToken(ctx: Context, token: string | null): Promise<Caller | null> {
  const claims = token === null ? null : ctx.tokens.verify(token, ctx.now());
  return (claims && (await authenticate(ctx, claims)))?.caller ?? null;
}
