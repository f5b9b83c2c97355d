import { randomUUID } from 'node:crypto';
import {
  type ChangeProviderInput,
  type CreateProviderInput,
  MAX_PROVIDERS,
  type Provider as ShownProvider,
} from '@carillon/contract/admin/providers';
import { isUuid } from '@carillon/contract/validation/formats';
import { providers, settings } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../../context.ts';
import { AppError, invalidField } from '../../../../errors.ts';
import { encryptApiKey } from '../../../../lib/ai/provider-list.ts';
import { joinProviders, listEnvironmentProviders } from '../../../../lib/ai/providers.ts';
import { baseUrl } from '../../../../lib/config/parsers.ts';
import { describeActor, recordAudit } from '../../../../platform/events/audit-log.ts';
import { afterCommit, inTransaction } from '../../../../transaction.ts';
import { showStored, toProvider } from './read.ts';

type ProviderRow = typeof providers.$inferSelect;

/** Throws 400, 402 beyond five providers, and 409 for a name that is taken. */
export function createProvider(ctx: Context, admin: Caller, input: CreateProviderInput): Promise<ShownProvider> {
  checkProvider(input);
  return inTransaction(ctx, async (tx) => {
    const rows = await lockProviders(tx);
    const environment = listEnvironmentProviders(tx.config.ai);
    assertFree(tx, rows, input.name);
    const used = rows.length + environment.length;
    if (used >= MAX_PROVIDERS) {
      const details = { resource: 'providers', used, limit: MAX_PROVIDERS, resetAt: null };
      throw new AppError('over_quota', `There can be ${MAX_PROVIDERS} providers.`, details);
    }
    const { name, kind, apiKey, maxConcurrent = null } = input;
    const id = randomUUID();
    // After the others: the first one is the default.
    const now = new Date(Math.max(tx.now().getTime(), (rows.at(-1)?.createdAt.getTime() ?? 0) + 1));
    const row: ProviderRow = {
      id,
      name,
      kind,
      baseUrl: trimUrl(input.baseUrl),
      apiKeyEncrypted: apiKey === undefined ? null : encryptApiKey(tx.config.encryptionKeys, id, apiKey),
      maxConcurrent,
      lastUserId: 0,
      createdAt: now,
      updatedAt: now,
    };
    await tx.db.insert(providers).values(row);
    await recordChange(tx, admin, 'provider.created', { provider: describe(row) });
    return showStored(row);
  });
}

/** Throws 400, 404, and 409 for a name that is taken and for a provider of the environment. */
export function changeProvider(
  ctx: Context,
  admin: Caller,
  id: string,
  input: ChangeProviderInput,
): Promise<ShownProvider> {
  checkProvider(input);
  return inTransaction(ctx, async (tx) => {
    const rows = await lockProviders(tx);
    const before = getRow(tx, rows, id);
    const { apiKey } = input;
    const after: ProviderRow = {
      ...before,
      name: input.name ?? before.name,
      kind: input.kind ?? before.kind,
      baseUrl: input.baseUrl === undefined ? before.baseUrl : trimUrl(input.baseUrl),
      maxConcurrent: input.maxConcurrent === undefined ? before.maxConcurrent : input.maxConcurrent,
      ...(apiKey !== undefined && {
        apiKeyEncrypted: apiKey === null ? null : encryptApiKey(tx.config.encryptionKeys, before.id, apiKey),
      }),
    };
    if (after.name !== before.name) assertFree(tx, rows, after.name);
    // Otherwise a new address could have a key sent to it that its writer does not know.
    if (after.baseUrl !== before.baseUrl && before.apiKeyEncrypted !== null && apiKey === undefined) {
      throw invalidField('apiKey', 'is required, because baseUrl changes');
    }
    const [from, to] = [describe(before), describe(after)];
    const changed = (Object.keys(to) as (keyof typeof to)[]).filter((field) => from[field] !== to[field]);
    if (changed.length === 0 && apiKey === undefined) return showStored(before);
    after.updatedAt = tx.now();
    await tx.db.update(providers).set(after).where(eq(providers.id, before.id));
    const pick = (all: typeof to) => Object.fromEntries(changed.map((field) => [field, all[field]]));
    await recordChange(tx, admin, 'provider.changed', {
      name: before.name,
      before: pick(from),
      after: pick(to),
      ...(apiKey !== undefined && { apiKey: apiKey === null ? 'removed' : 'replaced' }),
    });
    return showStored(after);
  });
}

/** Throws 404, and 409 for the default one while there are others, and for one of the environment. */
export function deleteProvider(ctx: Context, admin: Caller, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const rows = await lockProviders(tx);
    const row = getRow(tx, rows, id);
    if (rows.length > 1 && joinProviders(tx.config.ai, rows.map(toProvider)).list[0]?.id === row.id) {
      throw new AppError('conflict', 'This is the default provider. Delete the other ones first.');
    }
    await tx.db.delete(providers).where(eq(providers.id, row.id));
    await recordChange(tx, admin, 'provider.deleted', { provider: describe(row) });
  });
}

/** In the order of their creation. The lock makes the limit and the default exact. */
async function lockProviders({ db }: Context): Promise<ProviderRow[]> {
  await db.select({ id: settings.id }).from(settings).for('no key update');
  return db.select().from(providers).orderBy(asc(providers.createdAt), asc(providers.id)).for('update');
}

function getRow(ctx: Context, rows: readonly ProviderRow[], id: string): ProviderRow {
  assertStored(ctx, id);
  const row = isUuid(id) ? rows.find((one) => one.id === id.toLowerCase()) : undefined;
  if (!row) throw providerNotFound();
  return row;
}

export const providerNotFound = () => new AppError('not_found', 'Provider not found');

function assertStored({ config }: Context, id: string): void {
  if (!listEnvironmentProviders(config.ai).some((provider) => provider.id === id)) return;
  throw new AppError('conflict', 'This provider is set by environment variables: change it there, and restart.');
}

function assertFree({ config }: Context, rows: readonly ProviderRow[], name: string): void {
  const all = [...listEnvironmentProviders(config.ai), ...rows];
  if (all.some((provider) => provider.name === name)) {
    throw new AppError('conflict', `Another provider has the name "${name}".`);
  }
}

const PATHS = { openai: '/chat/completions', anthropic: '/messages' };

/** Throws 400 for what the schema cannot say. */
export function checkProvider(input: ChangeProviderInput): void {
  if (input.apiKey && !/^[\x21-\x7e]+$/.test(input.apiKey)) {
    throw invalidField('apiKey', 'must be visible ASCII characters, without spaces');
  }
  if (input.baseUrl === undefined) return;
  if (baseUrl.parse(input.baseUrl) === undefined) throw invalidField('baseUrl', `must be ${baseUrl.expects}`);
  const path = Object.values(PATHS).find((end) => trimUrl(input.baseUrl as string).endsWith(end));
  if (path) throw invalidField('baseUrl', `must end before ${path}`);
}

const trimUrl = (address: string) => address.trim().replace(/\/+$/, '');

const describe = ({ name, kind, baseUrl: address, maxConcurrent }: ProviderRow) => ({
  name,
  kind,
  baseUrl: address,
  maxConcurrent,
});

async function recordChange(
  tx: Context,
  admin: Caller,
  kind: `provider.${'created' | 'changed' | 'deleted'}`,
  details: Record<string, unknown>,
) {
  afterCommit(tx, () => tx.providers.forget());
  await recordAudit(tx, { kind, ...describeActor(admin, null), details });
}
