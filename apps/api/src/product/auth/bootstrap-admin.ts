import { compileValidator, Email, Password, strictObject } from '@carillon/contract';
import { users } from '@carillon/db';
import { and, ne } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../lib/config/config.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { inTransaction } from '../../transaction.ts';
import { hashPassword } from './passwords.ts';
import { endUserSessions } from './sessions.ts';
import { hasEmail, insertAccount } from './write.ts';

const checkCredentials = compileValidator(strictObject({ email: Email, password: Password }));

/** Creates or promotes an admin; an existing password stays, and sessions of the other role end. Throws `ConfigError` for invalid values. */
export async function bootstrapAdmin(ctx: Context): Promise<void> {
  const credentials = ctx.config.bootstrapAdmin;
  if (!credentials) return;
  const checked = checkCredentials(credentials);
  if (!checked.ok) throw new ConfigError(toErrorText(checked.details));
  const { email, password } = credentials;
  const [known] = await ctx.db.select({ id: users.id }).from(users).where(hasEmail(email));
  const passwordHash = known ? null : await hashPassword(password);
  await inTransaction(ctx, async (tx) => {
    const created = passwordHash && (await insertAccount(tx, { name: 'Admin', email, passwordHash, role: 'ADMIN' }));
    if (created) return recordAdmin(tx, 'user.registered', created);
    const [promoted] = await tx.db
      .update(users)
      .set({ role: 'ADMIN', updatedAt: ctx.now() })
      .where(and(hasEmail(email), ne(users.role, 'ADMIN')))
      .returning({ id: users.id, email: users.email });
    if (!promoted) return;
    await endUserSessions(tx, promoted.id);
    await recordAdmin(tx, 'user.promoted', promoted);
  });
}

const toErrorText = (details: Record<string, string[]>) =>
  Object.entries(details)
    .map(([field, messages]) => `BOOTSTRAP_ADMIN_${field.toUpperCase()} ${messages.join(', ')}.`)
    .join(' ');

async function recordAdmin(
  ctx: Context,
  kind: 'user.registered' | 'user.promoted',
  user: { id: number; email: string },
) {
  const details = { by: 'BOOTSTRAP_ADMIN_EMAIL', role: 'ADMIN' };
  await recordAudit(ctx, { kind, ...describeActor(null, user.id), details });
  ctx.log.info({ userId: user.id, kind }, 'the bootstrap account is now an admin');
}
