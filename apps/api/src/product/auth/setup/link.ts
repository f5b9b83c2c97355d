import { createHmac } from 'node:crypto';
import { users } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { Config } from '../../../lib/config/config.ts';
import { isSameSecret } from '../../../lib/crypto/tokens.ts';

const LIFETIME_MS = 60 * 60 * 1000;

export type SetupState = 'open' | 'invalid' | 'expired' | 'used';

type LinkContext = Pick<Context, 'now'> & { config: Pick<Config, 'jwtSecret'> };

/**
 * The path of a page that makes the first admin. The token is the end of its hour and a keyed hash of that, so every
 * process can check it and nothing is stored: it is void as soon as there is an account.
 */
export function buildSetupPath({ config, now }: LinkContext): string {
  const until = String(now().getTime() + LIFETIME_MS);
  return `/setup?token=${until}.${buildSignature(config, until)}`;
}

/** The path while the first admin has to be made: without an account, and with pages. Otherwise null. */
export async function findSetupPath(ctx: Context): Promise<string | null> {
  const { dashboard, bootstrapAdmin } = ctx.config;
  if (!dashboard || bootstrapAdmin || (await hasAccounts(ctx))) return null;
  return buildSetupPath(ctx);
}

/** `used` once there is an account, however it was made. */
export async function getSetupState(ctx: Context, token: string): Promise<SetupState> {
  const [until = '', signature = ''] = token.split('.');
  const isSigned = token === `${until}.${signature}` && isSameSecret(signature, buildSignature(ctx.config, until));
  if (!isSigned) return 'invalid';
  if (await hasAccounts(ctx)) return 'used';
  return Number(until) > ctx.now().getTime() ? 'open' : 'expired';
}

export async function hasAccounts({ db }: Pick<Context, 'db'>): Promise<boolean> {
  const found = await db.select({ one: sql`1` }).from(users).limit(1);
  return found.length > 0;
}

function buildSignature({ jwtSecret }: Pick<Config, 'jwtSecret'>, until: string): string {
  const key = createHmac('sha256', jwtSecret).update('setup links').digest();
  return createHmac('sha256', key).update(until).digest('base64url');
}
