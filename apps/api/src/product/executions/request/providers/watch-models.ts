import { listedModels, queryRows, recordset, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';
import { type ListedModel, readModelList } from '../../../../lib/ai/models/list-models.ts';
import { findModel, type Provider } from '../../../../lib/ai/providers.ts';
import { inTransaction } from '../../../../transaction.ts';
import { notifyUsers } from '../../../notifications/write.ts';

const DAY_MS = 86_400_000;

interface UsedModel {
  /** As the provider names it. */
  model: string;
  userIds: Set<number>;
}

/**
 * Once a day, over all processes: compares the models that active tasks use with the list of their provider, and notifies
 * the owners and the admins of those that are gone from it, or whose end it announces. A model that was never in the list is
 * an alias, of which nothing is known.
 */
export async function watchModels(ctx: Context): Promise<void> {
  const now = ctx.now();
  const due = await queryRows(
    ctx.db,
    sql`update settings set models_checked_at = ${now.toISOString()}
      where coalesce(models_checked_at, '-infinity') <= ${new Date(now.getTime() - DAY_MS).toISOString()} returning id`,
  );
  if (due.length === 0) return;
  const used = await findUsedModels(ctx);
  for (const [provider, models] of used) {
    const listed = await readModelList(provider);
    // A provider without a list, or one that does not answer, says nothing.
    if (listed.length > 0) await inTransaction(ctx, (tx) => compare(tx, provider, models, listed));
  }
}

async function findUsedModels(ctx: Context): Promise<Map<Provider, UsedModel[]>> {
  const [providers, rows] = await Promise.all([
    ctx.providers.load(),
    queryRows<{ model: string; userIds: number[] }>(
      ctx.db,
      sql`
      select model, array_agg(distinct user_id) filter (where user_id is not null) as user_ids from (
        select unnest(array_prepend(ai_model, fallback_models)) as model, user_id from tasks where status = 'active'
        union all select default_model, null from settings
      ) used group by model`,
    ),
  ]);
  const used = new Map<Provider, UsedModel[]>();
  for (const row of rows) {
    const found = findModel(providers, row.model);
    if (!found) continue;
    const models = used.get(found.provider) ?? [];
    used.set(found.provider, models);
    const same = models.find(({ model }) => model === found.model);
    const userIds = row.userIds ?? [];
    if (same) for (const id of userIds) same.userIds.add(id);
    else models.push({ model: found.model, userIds: new Set(userIds) });
  }
  return used;
}

async function compare(tx: Context, provider: Provider, used: readonly UsedModel[], listed: readonly ListedModel[]) {
  const now = tx.now();
  const byName = new Map(listed.map((one) => [one.model, one]));
  const rows = await tx.db.select().from(listedModels).where(eq(listedModels.provider, provider.name)).for('update');
  const known = new Map(rows.map((row) => [row.model, row]));
  const states = used.flatMap(({ model, userIds }) => {
    const found = byName.get(model);
    const before = known.get(model);
    if (!found && !before) return [];
    const endsAt = found?.endsAt ?? null;
    const isEnding = !found || endsAt !== null;
    const isNew = isEnding && before?.warnedAt == null;
    const warnedAt = isEnding ? (before?.warnedAt ?? now) : null;
    return [
      { model, userIds, endsAt, listedAt: found ? now : (before?.listedAt ?? now), warnedAt, isNew, isGone: !found },
    ];
  });
  // Models that no task uses any more are forgotten.
  await tx.db.delete(listedModels).where(eq(listedModels.provider, provider.name));
  if (states.length === 0) return;
  await tx.db.execute(sql`
    insert into listed_models (provider, model, listed_at, warned_at, ends_at)
    select ${provider.name}, model, listed_at, warned_at, ends_at
    from ${recordset(
      'r',
      states.map(({ model, listedAt, warnedAt, endsAt }) => ({ model, listedAt, warnedAt, endsAt })),
      {
        model: 'text',
        listedAt: 'timestamptz',
        warnedAt: 'timestamptz',
        endsAt: 'timestamptz',
      },
    )}`);
  const fresh = states.filter(({ isNew }) => isNew);
  if (fresh.length === 0) return;
  const owners = [...new Set(fresh.flatMap(({ userIds }) => [...userIds]))];
  const isAdmin = and(eq(users.role, 'ADMIN'), eq(users.isActive, true));
  const readers = await tx.db
    .select({ id: users.id, language: users.language, isAdmin: sql<boolean>`${isAdmin}` })
    .from(users)
    .where(or(inArray(users.id, owners), isAdmin))
    .orderBy(users.id);
  await notifyUsers(
    tx,
    fresh.flatMap(({ model, userIds, endsAt, isGone }) =>
      readers
        .filter((reader) => reader.isAdmin || userIds.has(reader.id))
        .map(({ id, language }) => {
          const { notices, formats } = getTexts(language);
          const end = isGone || endsAt === null ? null : formats.fullDay(endsAt, 'UTC');
          const title = end === null ? notices.modelGone(model) : notices.modelEnds(model, end);
          const message = notices.modelText(provider.name, isGone);
          return { userId: id, kind: 'model.ending', title, message, path: '/tasks' };
        }),
    ),
  );
}
