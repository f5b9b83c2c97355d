import { isTimeZone } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import type { StoredTask } from '../../../actions.ts';
import { parseLocalTime } from '../../../components/schedule/local-time.ts';
import type { OptionalSettings } from '../../../components/task-settings.ts';
import type { Problems } from '../problems.ts';
import type { RunLimits } from '../schedule/plan.ts';
import { toSources } from '../sources/source-values.ts';
import { readInputs } from './inputs.ts';
import { readAnswerSchema } from './read-schema.ts';
import { type SettingsValues, toSettingsValues } from './settings-values.ts';

interface Read {
  settings: OptionalSettings;
  problems: Problems;
}

type NumberField =
  | 'overdueMinutes'
  | 'failuresInRow'
  | 'fallbacksInRow'
  | 'costAboveUsd'
  | 'durationAboveMs'
  | 'timeoutMs'
  | 'maxRuns'
  | 'monthlyBudgetUsd';

const WHOLE = /^\d{1,9}$/;
const DECIMAL = /^\d{1,9}(?:[.,]\d{1,9})?$/;

const readLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Reads the fields, and says which of them cannot be read. What is typed as it was stored stays exactly as it was. */
export function readSettings(
  values: SettingsValues & { timezone: string },
  stored: StoredTask | null,
  texts: Texts,
): Read {
  const { taskForm } = texts;
  const problems: Problems = {};
  const refuse = (field: string, message: string) => {
    problems[field] = [message];
    return null;
  };
  const readCount = (field: NumberField) => {
    const text = String(values[field]);
    if (text === '') return null;
    return WHOLE.test(text) ? Number(text) : refuse(field, taskForm.wholeNumber(taskForm.fields[field]));
  };
  const readNumber = (field: NumberField) => {
    const text = String(values[field]);
    if (text === '') return null;
    return DECIMAL.test(text) ? Number(text.replace(',', '.')) : refuse(field, taskForm.number(taskForm.fields[field]));
  };
  const readSeconds = (field: NumberField) => {
    const seconds = readNumber(field);
    return seconds === null ? null : Math.round(seconds * 1000);
  };
  const readMoment = (field: 'endsAt' | 'pausedUntil') => {
    const text = values[field];
    if (text === '' || !isTimeZone(values.timezone)) return null;
    return (
      parseLocalTime(text, values.timezone)?.toISOString() ??
      refuse(field, taskForm.dateAndTime(taskForm.fields[field]))
    );
  };
  const readAlerts = () => {
    if (values.alerts === 'default') return null;
    if (values.alerts === 'none') return {};
    const rules = {
      overdueMinutes: readCount('overdueMinutes'),
      failuresInRow: readCount('failuresInRow'),
      costAboveUsd: readNumber('costAboveUsd'),
      durationAboveMs: readSeconds('durationAboveMs'),
      fallbacksInRow: readCount('fallbacksInRow'),
    };
    const given = Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== null));
    const isEmpty = Object.keys(given).length === 0 && Object.keys(problems).every((field) => !(field in rules));
    if (isEmpty) refuse('alerts', taskForm.emptyAlerts);
    return given;
  };
  const schema = readAnswerSchema(values, texts);
  if (schema.problem !== null) refuse(schema.field, schema.problem);

  const read: OptionalSettings = {
    context: { clock: values.clock, previousResult: values.previousResult },
    outputSchema: schema.value,
    inputs: readInputs(values),
    // The contract refuses unknown tools.
    tools: [...values.tools] as StoredTask['tools'],
    maxToolUses: /^\d{1,9}$/.test(values.maxToolUses)
      ? Number(values.maxToolUses)
      : (refuse('maxToolUses', taskForm.usesRange) ?? 5),
    channels: [...values.channels],
    // The contract refuses unknown choices.
    notify: values.notify as StoredTask['notify'],
    watch: readLines(values.watch),
    requireTools: values.requireTools && values.tools.length > 0,
    fallbackModels: readLines(values.fallbackModels),
    alerts: readAlerts(),
    missed: values.missed as StoredTask['missed'],
    overlap: values.overlap as StoredTask['overlap'],
    maxRetries: /^[0-3]$/.test(values.maxRetries)
      ? Number(values.maxRetries)
      : (refuse('maxRetries', taskForm.chooseRetries) ?? 0),
    timeoutMs: readSeconds('timeoutMs'),
    endsAt: readMoment('endsAt'),
    pausedUntil: readMoment('pausedUntil'),
    maxRuns: readCount('maxRuns'),
    monthlyBudgetUsd: readNumber('monthlyBudgetUsd'),
    sources: toSources(values.sources),
    runIf: values.onlyChanged && values.sources.length > 0 ? 'changed' : 'always',
  };
  return { settings: stored ? keepStored(read, values, stored) : read, problems };
}

/** What bounds the runs, as it is typed. */
export function readLimits(
  values: SettingsValues & { timezone: string },
  stored: StoredTask | null,
  texts: Texts,
): RunLimits {
  const { endsAt, maxRuns, pausedUntil } = readSettings(values, stored, texts).settings;
  return { endsAt, maxRuns, pausedUntil, plannedRuns: stored?.plannedRuns ?? 0 };
}

/** Fields show minutes, and decimals of a limited length: what they show of a stored value may be less than it is. */
function keepStored(
  read: OptionalSettings,
  values: SettingsValues & { timezone: string },
  stored: StoredTask,
): OptionalSettings {
  const before = toSettingsValues(stored);
  const isSame = (...fields: (keyof SettingsValues)[]) => fields.every((field) => values[field] === before[field]);
  const isSameZone = values.timezone === stored.timezone;
  return {
    ...read,
    ...(isSameAnswer(values, before) && { outputSchema: stored.outputSchema }),
    ...(isSame('watch') && { watch: stored.watch }),
    ...(isSame('alerts', 'overdueMinutes', 'failuresInRow', 'costAboveUsd', 'durationAboveMs', 'fallbacksInRow') && {
      alerts: stored.alerts,
    }),
    ...(isSame('timeoutMs') && { timeoutMs: stored.timeoutMs }),
    ...(isSame('monthlyBudgetUsd') && { monthlyBudgetUsd: stored.monthlyBudgetUsd }),
    ...(isSameZone && isSame('endsAt') && { endsAt: stored.endsAt }),
    ...(isSameZone && isSame('pausedUntil') && { pausedUntil: stored.pausedUntil }),
  };
}

/** Whether the fields of the selected form are the same. */
function isSameAnswer(values: SettingsValues, before: SettingsValues): boolean {
  if (values.answerAs !== before.answerAs) return false;
  if (values.answerAs === 'schema') return values.outputSchema === before.outputSchema;
  const list = ({ fieldNames, fieldKinds }: SettingsValues) =>
    JSON.stringify(fieldNames.map((name, at) => [name, fieldKinds[at]]).filter(([name]) => name !== ''));
  return values.answerAs !== 'fields' || list(values) === list(before);
}
