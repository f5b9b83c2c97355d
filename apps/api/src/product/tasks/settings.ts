import type { ChangeTaskInput, CreateTaskInput, TaskSettings } from '@carillon/contract/tasks';
import { normalizeEmail } from '@carillon/contract/validation/formats';
import { tasks } from '@carillon/db';
import type { Caller, Context } from '../../context.ts';
import { invalidField } from '../../errors.ts';
import { DEFAULT_MAX_USES } from '../../lib/ai/web-tools/tool-limits.ts';
import { checkChannels } from '../deliveries/channels/check-channels.ts';
import { checkRequiredTools, checkTools, checkToolUses } from '../executions/request/check-tools.ts';
import { checkInputs } from '../executions/request/inputs.ts';
import { checkOutputSchema } from '../executions/result/check-schema.ts';
import { checkWatch } from '../executions/result/compare/watch-path.ts';
import type { Schedule } from '../schedule/recurrence.ts';
import { checkRunIf, checkSources } from '../sources/check-sources.ts';
import { getAttachmentIds } from '../uploads/attachments.ts';

export type Settings = Pick<typeof tasks.$inferSelect, keyof TaskSettings>;

type Field = Exclude<keyof TaskSettings, keyof Schedule>;

type Convert<K extends Field> = (
  given: TaskSettings[K],
  ctx: Context,
  caller: Caller,
) => Settings[K] | Promise<Settings[K]>;

type Setting<K extends Field> = {
  convert?: Convert<K>;
} & (undefined extends CreateTaskInput[K]
  ? { /** The value of a new task that leaves the field out. */ default: Settings[K] | DefaultModel }
  : unknown);

type DefaultModel = (system: { defaultModel: string }) => string;

export type SettingTable = { readonly [K in Field]: Setting<K> };

/** A new setting needs its schema in the contract, a column of the same name, and an entry here. */
const SETTINGS: SettingTable = {
  externalId: { default: '' },
  name: {},
  description: { default: null },
  prompt: {},
  aiModel: { default: ({ defaultModel }) => defaultModel },
  fallbackModels: { default: [] },
  maxTokens: { default: 1024 },
  temperature: { default: 70 },
  attachments: { default: [], convert: (given, ctx, caller) => getAttachmentIds(ctx, caller, given) },
  webhookUrl: { default: null },
  notificationEmail: { default: null, convert: (given) => given && normalizeEmail(given) },
  channels: { default: [], convert: (given, ctx, caller) => checkChannels(ctx, caller, given) },
  context: {
    default: { clock: true, previousResult: false },
    convert: ({ clock = true, previousResult = false }) => ({ clock, previousResult }),
  },
  outputSchema: { default: null, convert: (given) => given && checkOutputSchema(given) },
  inputs: { default: [], convert: (given, ctx, caller) => checkInputs(ctx, caller, given) },
  tools: { default: [] },
  maxToolUses: { default: DEFAULT_MAX_USES },
  requireTools: { default: false },
  sources: { default: [], convert: (given, ctx, caller) => checkSources(ctx, caller, given) },
  runIf: { default: 'always' },
  notify: { default: 'always' },
  watch: { default: [], convert: checkWatch },
  missed: { default: 'latest' },
  overlap: { default: 'skip' },
  endsAt: { default: null, convert: toDate },
  maxRuns: { default: null },
  pausedUntil: { default: null, convert: toDate },
  timeoutMs: { default: null, convert: checkTimeout },
  monthlyBudgetUsd: { default: null },
  maxRetries: { default: 3 },
  alerts: { default: null },
};

function toDate(given: string | null): Date | null {
  return given === null ? null : new Date(given);
}

function checkTimeout(given: number | null, { config }: Context): number | null {
  const { timeoutMs } = config.ai;
  if (given !== null && given > timeoutMs) throw invalidField('timeoutMs', `must be at most ${timeoutMs}`);
  return given;
}

const FIELDS = Object.keys(SETTINGS) as Field[];

const { scheduledFor, recurrence, recurrencePattern, interval, timezone } = tasks;
const columns = Object.fromEntries(FIELDS.map((field) => [field, tasks[field]])) as Pick<typeof tasks, Field>;

export const settingColumns = { ...columns, scheduledFor, recurrence, recurrencePattern, interval, timezone };

/** Converts the fields in `input` except the schedule. Throws 400. */
export async function toColumns(
  ctx: Context,
  caller: Caller,
  input: ChangeTaskInput,
): Promise<Partial<Pick<Settings, Field>>> {
  const stored: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const given = input[field];
    if (given === undefined) continue;
    const convert = SETTINGS[field].convert as ((...args: unknown[]) => unknown) | undefined;
    stored[field] = convert ? await convert(given, ctx, caller) : given;
  }
  return stored;
}

/** The values of a new task; that of the model is null, because the system settings have it. */
export const listDefaults = (system: { defaultModel: string | null }): Partial<Record<Field, unknown>> =>
  Object.fromEntries(
    FIELDS.map((field) => {
      const value = (SETTINGS[field] as { default?: unknown }).default;
      return [field, typeof value === 'function' ? value(system) : value];
    }),
  );

/** `stored` has every field that the contract requires. */
export function completeSettings(stored: Partial<Settings> & Schedule, system: { defaultModel: string }): Settings {
  return { ...listDefaults(system), ...stored } as Settings;
}

/** Throws 400 for settings that do not go together. */
export async function checkSettings(ctx: Context, settings: Settings): Promise<void> {
  await checkTools(ctx, settings);
  checkToolUses(settings);
  checkRequiredTools(settings);
  checkRunIf(settings);
}
