import type { TaskSettings } from '@carillon/contract/tasks';
import type { Source } from '@carillon/contract/tasks/sources';
import { type Blank, findKeys, type Template, type TemplateNeed } from '@carillon/contract/tasks/templates';
import { getTexts } from '@carillon/texts';
import type { Caller, Context } from '../../../context.ts';
import { getSettings } from '../../../platform/settings.ts';
import { dateTimeIn } from '../../schedule/time-zone.ts';
import { getTask, type TaskRow } from '../read.ts';
import { completeSettings } from '../settings.ts';

/** Whether a template has the field. The others say where, until when and with what of the account the task works. */
const FIELDS: Record<Exclude<keyof TaskSettings, 'scheduledFor'>, boolean> = {
  externalId: false,
  name: true,
  description: true,
  prompt: true,
  recurrence: true,
  recurrencePattern: true,
  interval: true,
  timezone: true,
  aiModel: true,
  fallbackModels: true,
  maxTokens: true,
  temperature: true,
  attachments: false,
  webhookUrl: false,
  notificationEmail: false,
  channels: false,
  context: true,
  outputSchema: true,
  tools: true,
  maxToolUses: true,
  requireTools: true,
  notify: true,
  watch: true,
  missed: true,
  overlap: true,
  endsAt: false,
  maxRuns: true,
  pausedUntil: false,
  timeoutMs: true,
  monthlyBudgetUsd: true,
  maxRetries: true,
  alerts: true,
  inputs: false,
  sources: true,
  runIf: true,
};

const REQUIRED: readonly string[] = ['name', 'prompt', 'recurrence', 'timezone'];

/** The settings of a task that differ from the defaults. Throws 404. */
export async function getTaskTemplate(ctx: Context, caller: Caller, id: number): Promise<Template> {
  const [task, system] = await Promise.all([getTask(ctx, caller, id), getSettings(ctx)]);
  const { name, prompt, scheduledFor, recurrence, timezone } = task;
  const defaults = {
    ...completeSettings({ name, prompt, scheduledFor, recurrence, recurrencePattern: null, timezone }, system),
    interval: 1,
  };
  const { sources, blanks } = hideAddresses(task, caller);
  const settings: Record<string, unknown> = { ...task, recurrencePattern: findPattern(task), sources };
  const kept = Object.entries(FIELDS).filter(
    ([field, isKept]) =>
      isKept && (REQUIRED.includes(field) || !isSame(settings[field], (defaults as Record<string, unknown>)[field])),
  );
  return {
    id: `task-${id}`,
    name,
    purpose: task.description ?? '',
    category: 'own',
    needs: findNeeds(sources, task.tools),
    blanks,
    task: Object.fromEntries(kept.map(([field]) => [field, settings[field]])) as Template['task'],
  };
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The time of day, which a template without `scheduledFor` would lose. Shorter months have a pattern of their own. */
function findPattern({ scheduledFor, recurrence, recurrencePattern, interval, timezone }: TaskRow): string | null {
  if (recurrencePattern !== null || recurrence === 'once' || interval > 1) return recurrencePattern;
  const { minute, hour, day, dayOfWeek } = dateTimeIn(timezone, scheduledFor.getTime());
  if (recurrence === 'monthly') return day > 28 ? null : `${minute} ${hour} ${day} * *`;
  return `${minute} ${hour} * * ${recurrence === 'weekly' ? dayOfWeek % 7 : '*'}`;
}

function findNeeds(sources: readonly Source[], tools: TaskRow['tools']): TemplateNeed[] {
  const isSearch = ({ search }: Source) => search !== undefined;
  return [
    ...(sources.some((source) => !isSearch(source)) ? (['sources'] as const) : []),
    ...(sources.some(isSearch) ? (['search'] as const) : []),
    ...tools,
  ];
}

/** Leaves out the names of secrets, and has a blank for each address that is of no use, or of too much, to others. */
function hideAddresses(task: TaskRow, { language }: Pick<Caller, 'language'>) {
  const { prompt, name, description, sources } = task;
  const keys = findKeys([prompt, name, description, task.outputSchema, sources]);
  const blanks: Blank[] = [];
  const hidden = sources.map(({ secret, ...source }): Source => {
    if (source.url === undefined || (secret === undefined && !isPrivate(source.url))) return source;
    const key = findFreeKey(source.name, keys);
    const { origin } = new URL(source.url);
    const label = getTexts(language).templates.addressOf(source.name);
    blanks.push({ key, label, example: secret === undefined ? `${origin}/…` : 'https://example.com/…' });
    return { ...source, url: `[${key}]` };
  });
  return { sources: hidden, blanks };
}

function findFreeKey(name: string, keys: Set<string>): string {
  let key = name;
  for (let n = 2; keys.has(key); n += 1) key = `${name.slice(0, 28)}_${n}`;
  keys.add(key);
  return key;
}

const SECRET_NAME = /token|key|secret|auth|pass|sig|session|private|credential/i;
/** A word that nobody has chosen: long, with letters and digits, as the secret addresses of calendars have. */
const SECRET_WORD = /(?=[a-z_]*\d)(?=[\d_]*[a-z])\w{16,}/i;

function isPrivate(url: string): boolean {
  const { pathname, search, searchParams } = new URL(url);
  return [...searchParams.keys()].some((name) => SECRET_NAME.test(name)) || SECRET_WORD.test(pathname + search);
}
