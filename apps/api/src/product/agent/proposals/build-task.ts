import { compileValidator, findUnsafeValue } from '@carillon/contract';
import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { CreateTaskInput, type Recurrence } from '@carillon/contract/tasks';
import { isTimeZone } from '@carillon/contract/validation/formats';
import { toOneLine } from '@carillon/contract/validation/unsafe-values';
import type { Caller, Context } from '../../../context.ts';
import { AppError, ERROR_MESSAGES, invalidField } from '../../../errors.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import { checkPattern, nearestRecurrence } from '../../schedule/pattern.ts';
import { nextOccurrence, type Schedule } from '../../schedule/recurrence.ts';
import { readLocalTime } from '../../schedule/time-zone.ts';
import { requireNextRun, toPlan } from '../../tasks/schedule.ts';
import { toColumns } from '../../tasks/settings.ts';

/** What a task may use, as the instructions of the model list it. */
export interface DraftSources {
  timezone: string;
  tools: readonly WebTool[];
  channels: readonly ChannelChoice[];
  /** Whether a source may search the web. */
  canSearch: boolean;
}

type Fields = Record<string, unknown>;

const MAX_NAME = 100;
const MAX_SOURCES = 5;
const MAX_NAME_OF_PROMPT = 60;
const LOCAL_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{1,2}:\d{2})(?::\d{2}(?:\.\d+)?)?)? ?(?:Z|[+-]\d{2}:?\d{2})?(?:\[.*\])?$/i;
const RECURRENCES: Readonly<Record<string, Recurrence>> = {
  once: 'once',
  none: 'once',
  'one-time': 'once',
  daily: 'daily',
  day: 'daily',
  weekly: 'weekly',
  week: 'weekly',
  monthly: 'monthly',
  month: 'monthly',
};

const validate = compileValidator(CreateTaskInput);

/**
 * Makes the body of a create-task request of what a model wrote. Only fields of the instructions are read. Throws 400 that
 * names the field for what cannot be a task.
 */
export async function buildTask(
  ctx: Context,
  caller: Caller,
  draft: unknown,
  sources: DraftSources,
): Promise<CreateTaskInput> {
  if (typeof draft !== 'object' || draft === null || Array.isArray(draft)) throw invalidField('task', 'is unreadable');
  const given = draft as Fields;
  const { channels, ...task } = dropEmpty({
    ...readTexts(given),
    ...readSchedule(given, sources.timezone, ctx.now()),
    tools: readTools(given.tools, sources.tools),
    ...readSources(given),
    outputSchema: readSchema(given.outputSchema),
    notify: typeof given.notify === 'string' ? given.notify.trim().toLowerCase() : undefined,
    watch: toTexts(given.watch).map((path) => path.replace(/^\$\.?/, '')),
    channels: readChannels(given.channels, sources.channels),
  });
  const unsafe = findUnsafeValue(task);
  if (unsafe) throw invalidField(unsafe.field, unsafe.message);
  const checked = validate(task);
  if (!checked.ok) throw new AppError('invalid', ERROR_MESSAGES.invalid, checked.details);
  await toColumns(ctx, caller, checked.value);
  requireNextRun(toPlan(checked.value), ctx.now());
  return { ...checked.value, ...(channels && { channels }) } as CreateTaskInput;
}

function dropEmpty<T extends Fields>(fields: T): Partial<T> {
  const isGiven = (value: unknown) => value !== undefined && value !== null && !(Array.isArray(value) && !value.length);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value))) as Partial<T>;
}

function readTexts({ name, prompt }: Fields) {
  if (typeof prompt !== 'string') throw invalidField('prompt', 'is required');
  const first = typeof name === 'string' ? cut(toOneLine(name), MAX_NAME) : '';
  return { name: first.length >= 3 ? first : cut(toOneLine(prompt), MAX_NAME_OF_PROMPT), prompt: prompt.trim() };
}

const cut = (text: string, max: number) => [...text].slice(0, max).join('').trim();

/** Times are on the clock of the zone: an offset is ignored, because models add one without converting the time. */
function readSchedule(given: Fields, ownZone: string, now: Date) {
  const timezone = toText(given.timezone) || ownZone;
  const recurrencePattern = toText(given.recurrencePattern) || null;
  const word = toText(given.recurrence).toLowerCase() || 'once';
  if (!isTimeZone(timezone)) throw invalidField('timezone', 'must be an IANA time zone name');
  const start = readStart(toText(given.scheduledFor), timezone, recurrencePattern === null);
  if (recurrencePattern !== null) {
    const problem = checkPattern(recurrencePattern, timezone);
    if (problem) throw invalidField('recurrencePattern', problem);
    const recurrence = nearestRecurrence(recurrencePattern);
    const after = new Date(Math.max(now.getTime(), (start?.getTime() ?? 0) - 1));
    const first = nextOccurrence({ scheduledFor: after, recurrence, recurrencePattern, timezone }, after);
    return { scheduledFor: first?.toISOString(), recurrence, recurrencePattern, timezone };
  }
  if (start === null) throw invalidField('scheduledFor', 'is required, as a date and a time');
  const recurrence = RECURRENCES[word] ?? (word as Recurrence);
  const interval = readInterval(given.interval, recurrence);
  const schedule: Schedule = { scheduledFor: start, recurrence, recurrencePattern, interval, timezone };
  const first = start > now || !(word in RECURRENCES) ? start : nextOccurrence(schedule, now);
  if (first === null) throw invalidField('scheduledFor', 'has passed');
  return { scheduledFor: first.toISOString(), recurrence, ...(interval !== 1 && { interval }), timezone };
}

/** What the contract refuses is left to it. */
function readInterval(given: unknown, recurrence: Recurrence): number {
  const interval = typeof given === 'string' ? Number(given) : given;
  return recurrence !== 'once' && Number.isInteger(interval) && (interval as number) > 0 ? (interval as number) : 1;
}

/** Returns null without a date, without a time that is needed, and for a day that does not exist. */
function readStart(text: string, timezone: string, needsTime: boolean): Date | null {
  const [, date, time = needsTime ? undefined : '00:00'] = (text.length <= 64 && LOCAL_TIME.exec(text)) || [];
  return (date && time && readLocalTime(timezone, `${date}T${time.padStart(5, '0')}`)?.at) || null;
}

function readTools(given: unknown, known: readonly string[]): string[] {
  const tools = [...new Set(toTexts(given).map((tool) => tool.toLowerCase().replace(/[\s-]+/g, '_')))];
  const missing = tools.find((tool) => !known.includes(tool));
  if (missing !== undefined) throw invalidField('tools', 'has a tool that the model of new tasks does not have');
  return tools;
}

/** A name is made for a source without one; a source that is only an address has no other fields. */
function readSources({ sources, source, runIf }: Fields) {
  const given = [sources ?? source ?? []].flat().slice(0, MAX_SOURCES + 1);
  const read = given.map((one, at) => {
    const fields: Fields = typeof one === 'string' ? { url: one.trim() } : { ...(one as object) };
    return dropEmpty({ ...fields, name: toText(fields.name).toLowerCase() || `source${at + 1}` });
  });
  return { sources: read, runIf: read.length > 0 ? toText(runIf).toLowerCase() || undefined : undefined };
}

function readSchema(given: unknown): unknown {
  const isBare = typeof given === 'object' && given !== null && 'properties' in given && !('type' in given);
  return isBare ? { type: 'object', ...given } : given;
}

function readChannels(given: unknown, known: readonly ChannelChoice[]): string[] {
  const ids = toTexts(given).map((one) => {
    const same = (text: string) => text.trim().toLowerCase() === one.toLowerCase();
    const found = known.filter(({ id, name }) => same(id) || same(name));
    if (found.length > 1) throw invalidField('channels', 'has a name that several of your channels have');
    if (!found[0]) throw invalidField('channels', 'has one that is not among your channels');
    return found[0].id;
  });
  return [...new Set(ids)];
}

const toText = (given: unknown): string => (typeof given === 'string' ? given.trim() : '');

const toTexts = (given: unknown): string[] =>
  (Array.isArray(given) ? given : [given]).map(toText).filter((text) => text !== '');
