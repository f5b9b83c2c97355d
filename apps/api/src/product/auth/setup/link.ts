import { createHmac } from 'node:crypto';
import { users } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { Config } from '../../../lib/config/config.ts';
import { isSameSecret } from '../../../lib/crypto/tokens.ts';

const LIFETIME_MINUTES = 60;
const MINUTE_MS = 60_000;
/** 128 bits in base64url. */
const SIGNATURE_LENGTH = 22;

export type SetupState = 'open' | 'invalid' | 'expired' | 'used';

type LinkContext = Pick<Context, 'now'> & { config: Pick<Config, 'jwtSecret'> };

/**
 * The path of a page that makes the first admin. The token is a keyed hash of the minute in which it ends, and that minute, so
 * every process can check it and nothing is stored: it is void as soon as there is an account.
 */
export function buildSetupPath({ config, now }: LinkContext): string {
  const until = (Math.ceil(now().getTime() / MINUTE_MS) + LIFETIME_MINUTES).toString(36);
  return `/setup?token=${buildSignature(config, until)}${until}`;
}

/** The path while the first admin has to be made: without an account, and with pages. Otherwise null. */
export async function findSetupPath(ctx: Context): Promise<string | null> {
  const { dashboard, bootstrapAdmin } = ctx.config;
  if (!dashboard || bootstrapAdmin || (await hasAccounts(ctx))) return null;
  return buildSetupPath(ctx);
}

/** `used` once there is an account, however it was made. */
export async function getSetupState(ctx: Context, token: string): Promise<SetupState> {
  const until = token.slice(SIGNATURE_LENGTH);
  if (!isSameSecret(token.slice(0, SIGNATURE_LENGTH), buildSignature(ctx.config, until))) return 'invalid';
  if (await hasAccounts(ctx)) return 'used';
  return Number.parseInt(until, 36) * MINUTE_MS > ctx.now().getTime() ? 'open' : 'expired';
}

export async function hasAccounts({ db }: Pick<Context, 'db'>): Promise<boolean> {
  const found = await db.select({ one: sql`1` }).from(users).limit(1);
  return found.length > 0;
}

function buildSignature({ jwtSecret }: Pick<Config, 'jwtSecret'>, until: string): string {
  const key = createHmac('sha256', jwtSecret).update('setup links').digest();
  return createHmac('sha256', key).update(until).digest('base64url').slice(0, SIGNATURE_LENGTH);
}
