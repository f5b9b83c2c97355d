import { compileValidator, strictObject, type Validator } from '@carillon/contract';
import { ACTION_DATA, ActionError, type ActionName } from '@carillon/contract/actions/index';
import { settings, users } from '@carillon/db';
import { Type } from '@sinclair/typebox';
import { eq } from 'drizzle-orm';
import type { Test } from 'tap';
import type { Context } from '../../src/context.ts';
import { buildActions } from '../../src/handlers/actions/build.ts';
import type { Actions } from '../../types/actions.d.ts';
import type { TestContext } from './context.ts';
import { signUp } from './people.ts';

const isError = compileValidator(ActionError);
const checks = new Map<string, Validator<unknown>>();

/** Builds the actions and validates each of their responses against the contract. */
export function testActions(ctx: Context): Actions {
  const checked = Object.entries(buildActions(ctx)).map(([name, act]) => {
    const call = async (...given: never[]) => {
      const answer = await act(...given);
      const problem = explainMismatch(name as ActionName, answer);
      if (problem !== null) throw new Error(`${name} answered ${JSON.stringify(answer).slice(0, 1000)}: ${problem}`);
      return answer;
    };
    return [name, call];
  });
  return Object.fromEntries(checked);
}

function explainMismatch(name: ActionName, answer: { success: boolean }): string | null {
  const data = ACTION_DATA[name];
  const success = checks.get(name) ?? compileValidator(strictObject({ success: Type.Literal(true), data }));
  checks.set(name, success);
  const checked = answer.success ? success(answer) : isError(answer);
  return checked.ok ? null : JSON.stringify(checked.details);
}

/** Returns the data of a successful response, throws otherwise. */
export async function getData<D>(answer: Promise<{ success: true; data: D } | ActionError>): Promise<D> {
  const response = await answer;
  if (!response.success) throw new Error(JSON.stringify(response));
  return response.data;
}

type Answer = { success: boolean; error?: string; code?: string; data?: unknown };

/** All actions that need a session and do not end it, with their names, callable with any arguments. */
export const listActions = ({ login, register, logout, ...actions }: Actions) =>
  Object.entries(actions) as unknown as [string, (...given: unknown[]) => Promise<Answer>][];

/** The input of `createTask`. */
export const TASK = {
  name: 'Morning news',
  prompt: 'Tell me what happened overnight.',
  model: 'small-model',
  recurrence: '0 9 * * *',
};

export const UNAUTHORIZED = { success: false, error: 'Unauthorized', code: 'AUTH_REQUIRED' };
export const FORBIDDEN = { success: false, error: 'Forbidden', code: 'INSUFFICIENT_PERMISSIONS' };

export const validationError = (details: Record<string, string[]>) => ({
  success: false,
  error: 'Validation error',
  details,
});

/** For rows that do not exist or belong to someone else. */
export const notFoundError = (what: string) => ({
  success: false,
  error: `${what[0]?.toUpperCase()}${what.slice(1)} not found`,
  code: 'NOT_FOUND',
});

type Call = (session: string | null) => Promise<unknown>;

/** Requires an error without a session, with an expired one, during maintenance and for a deactivated account. */
export async function assertActionNeedsSession(t: Test, { app, ctx, clock }: TestContext, call: Call): Promise<void> {
  const before = ctx.now();
  for (const session of [null, '', 'nonsense']) t.same(await call(session), UNAUTHORIZED, `session ${session}`);
  const carol = await signUp(app, { name: 'Carol' });
  await ctx.db.update(settings).set({ maintenanceMode: true });
  t.match(await call(carol.token), { success: false, error: /maintenance/, code: 'SERVICE_UNAVAILABLE' });
  await ctx.db.update(settings).set({ maintenanceMode: false });
  clock.advance(7 * 24 * 60 * 60 * 1000);
  t.same(await call(carol.token), UNAUTHORIZED, 'an expired session');
  clock.set(before);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, carol.id));
  t.same(await call(carol.token), UNAUTHORIZED, 'a deactivated account');
}
