import { EXPORT_PARTS, type ExportPart } from '@carillon/contract/actions/web/settings';
import {
  alerts,
  apiKeys,
  endpoints,
  executions,
  factors,
  notifications,
  runQuestions,
  secrets,
  taskProposals,
  tasks,
  taskVersions,
  uploads,
  usageCounters,
} from '@carillon/db';
import { and, asc, eq, gt, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../../context.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { ACCOUNT_EXPORTS, userKey } from '../../platform/limits/rates.ts';
import { assertRateLimit } from '../../platform/limits/windows.ts';
import { fromReplica } from '../../platform/queries/from-replica.ts';
import { confirmWith } from '../auth/confirm-session.ts';
import { factorFields } from '../auth/factors/read.ts';
import { apiKeyFields } from '../auth/keys/read.ts';
import { appFields } from '../auth/oauth-server/apps.ts';
import { isConnection, isNoConnection } from '../auth/oauth-server/connections.ts';
import { channelFields, isChannel } from '../deliveries/channels/read.ts';
import { isNoChannel, webhookFields } from '../deliveries/webhooks/read.ts';
import { executionFields } from '../executions/read.ts';
import { secretFields } from '../secrets/read.ts';
import { getProfile, getUserSettings } from './read.ts';

/** An answer may have 100 KB. */
const ROWS = 100;

interface Source {
  table: PgTable;
  owner: PgColumn;
  /** Pages go up by it. */
  key: PgColumn;
  /** Default: all rows of the owner. */
  where?: SQL;
  fields: Record<string, PgColumn | SQL | SQL.Aliased>;
}

/** Without secrets, and without what the service keeps for itself. */
const SOURCES: Record<ExportPart, Source> = {
  tasks: {
    table: tasks,
    owner: tasks.userId,
    key: tasks.id,
    fields: {
      id: tasks.id,
      externalId: tasks.externalId,
      name: tasks.name,
      description: tasks.description,
      prompt: tasks.prompt,
      scheduledFor: tasks.scheduledFor,
      nextExecutionAt: tasks.nextExecutionAt,
      recurrence: tasks.recurrence,
      recurrencePattern: tasks.recurrencePattern,
      interval: tasks.interval,
      timezone: tasks.timezone,
      aiModel: tasks.aiModel,
      maxTokens: tasks.maxTokens,
      temperature: tasks.temperature,
      status: tasks.status,
      attachments: tasks.attachments,
      webhookUrl: tasks.webhookUrl,
      notificationEmail: tasks.notificationEmail,
      channels: tasks.channels,
      inputs: tasks.inputs,
      version: tasks.version,
      sources: tasks.sources,
      runIf: tasks.runIf,
      createdAt: tasks.createdAt,
      updatedAt: tasks.updatedAt,
    },
  },
  versions: {
    table: taskVersions,
    owner: taskVersions.userId,
    key: taskVersions.id,
    fields: {
      id: taskVersions.id,
      taskId: taskVersions.taskId,
      number: taskVersions.number,
      at: taskVersions.createdAt,
      via: taskVersions.via,
      settings: taskVersions.settings,
    },
  },
  proposals: {
    table: taskProposals,
    owner: taskProposals.userId,
    key: taskProposals.id,
    fields: {
      id: taskProposals.id,
      task: taskProposals.draft,
      createdAt: taskProposals.createdAt,
      expiresAt: taskProposals.expiresAt,
      confirmedAt: taskProposals.confirmedAt,
      taskId: taskProposals.taskId,
    },
  },
  runs: { table: executions, owner: executions.userId, key: executions.id, fields: executionFields },
  questions: {
    table: runQuestions,
    owner: runQuestions.userId,
    key: runQuestions.id,
    fields: {
      id: runQuestions.id,
      executionId: runQuestions.executionId,
      message: runQuestions.message,
      content: runQuestions.content,
      model: runQuestions.model,
      createdAt: runQuestions.createdAt,
    },
  },
  files: {
    table: uploads,
    owner: uploads.userId,
    key: uploads.id,
    fields: {
      id: uploads.id,
      name: uploads.name,
      type: uploads.type,
      size: uploads.size,
      uploadedAt: uploads.uploadedAt,
    },
  },
  webhooks: { table: endpoints, owner: endpoints.userId, key: endpoints.id, fields: webhookFields, where: isNoChannel },
  channels: { table: endpoints, owner: endpoints.userId, key: endpoints.id, fields: channelFields, where: isChannel },
  keys: { table: apiKeys, owner: apiKeys.userId, key: apiKeys.id, fields: apiKeyFields, where: isNoConnection },
  apps: { table: apiKeys, owner: apiKeys.userId, key: apiKeys.id, fields: appFields, where: isConnection },
  factors: { table: factors, owner: factors.userId, key: factors.id, fields: factorFields },
  secrets: { table: secrets, owner: secrets.userId, key: secrets.id, fields: secretFields },
  alerts: {
    table: alerts,
    owner: alerts.userId,
    key: alerts.id,
    fields: {
      id: alerts.id,
      kind: alerts.kind,
      taskId: alerts.taskId,
      at: alerts.at,
      executionId: alerts.executionId,
      title: alerts.title,
      message: alerts.message,
      createdAt: alerts.createdAt,
    },
  },
  notifications: {
    table: notifications,
    owner: notifications.userId,
    key: notifications.id,
    fields: {
      id: notifications.id,
      kind: notifications.kind,
      title: notifications.title,
      message: notifications.message,
      path: notifications.path,
      readAt: notifications.readAt,
      createdAt: notifications.createdAt,
    },
  },
  usage: {
    table: usageCounters,
    owner: usageCounters.userId,
    key: usageCounters.period,
    fields: {
      id: usageCounters.period,
      executions: usageCounters.executions,
      tokens: usageCounters.tokens,
      costUsd: usageCounters.costUsd,
      savedRuns: usageCounters.savedRuns,
      savedUsd: usageCounters.savedUsd,
    },
  },
};

/** Returns what precedes the parts. Throws as `confirmWith`, and 429. */
export async function startExport(ctx: Context, caller: Caller, currentPassword: string | undefined) {
  await confirmWith(ctx, caller, currentPassword);
  await assertRateLimit(ctx, ACCOUNT_EXPORTS, userKey(ACCOUNT_EXPORTS, caller.id));
  const { user: account } = await getProfile(ctx, caller);
  const { settings } = await getUserSettings(ctx, caller);
  await recordAudit(ctx, { kind: 'user.exported', ...describeActor(caller) });
  return { exportedAt: ctx.now(), account, settings, parts: EXPORT_PARTS };
}

/** Some rows of a part, and the `after` of the next call; null at the end. */
export const readExport = fromReplica(
  async (ctx: Context, caller: Caller, { part, after }: { part: ExportPart; after?: string }) => {
    const { table, owner, key, fields, where } = SOURCES[part];
    const rows = await ctx.db
      .select(fields)
      .from(table)
      .where(and(eq(owner, caller.id), where, after === undefined ? undefined : gt(key, toKey(key, after))))
      .orderBy(asc(key))
      .limit(ROWS);
    const last = rows.length === ROWS ? rows.at(-1) : undefined;
    return { rows, after: last === undefined ? null : String(last.id) };
  },
);

const toKey = ({ dataType }: PgColumn, text: string) => (dataType === 'number' ? Number(text) : text);
