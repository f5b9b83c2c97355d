import type { StoredTask } from '../../../actions.ts';
import { formatLocalTime } from '../../../components/schedule/local-time.ts';
import type { OptionalSettings } from '../../../components/task-settings.ts';
import type { Form } from '../../../http/forms.ts';
import { readSourceValues, type SourceValues, toSourceValues } from '../sources/source-values.ts';
import { readAnswerForm } from './answer-fields.ts';

/** The settings that have a default, as they are typed. */
export interface SettingsValues {
  clock: boolean;
  previousResult: boolean;
  /** Ids of tasks, and their names in the prompt. */
  inputTasks: readonly string[];
  inputNames: readonly string[];
  tools: readonly string[];
  maxToolUses: string;
  requireTools: boolean;
  /** A model a line. */
  fallbackModels: string;
  /** One of `ANSWER_FORMS`. */
  answerAs: string;
  fieldNames: readonly string[];
  fieldKinds: readonly string[];
  /** JSON. */
  outputSchema: string;
  /** Ids. */
  channels: readonly string[];
  notify: string;
  /** A path a line. */
  watch: string;
  alerts: string;
  overdueMinutes: string;
  failuresInRow: string;
  costAboveUsd: string;
  /** In seconds. */
  durationAboveMs: string;
  fallbacksInRow: string;
  missed: string;
  overlap: string;
  maxRetries: string;
  /** In seconds. */
  timeoutMs: string;
  /** Such as `2026-03-24T14:05`, in the zone of the task. */
  endsAt: string;
  pausedUntil: string;
  maxRuns: string;
  monthlyBudgetUsd: string;
  sources: readonly SourceValues[];
  /** Whether a run needs a source that has changed. */
  onlyChanged: boolean;
}

type ListField = 'tools' | 'channels' | 'fieldNames' | 'fieldKinds' | 'inputTasks' | 'inputNames' | 'sources';
type TextField = Exclude<keyof SettingsValues, 'clock' | 'previousResult' | 'requireTools' | 'onlyChanged' | ListField>;

/** More than a task takes, so that too many are refused. */
const MAX_READ = 100;

const DEFAULTS: SettingsValues = {
  clock: true,
  previousResult: false,
  inputTasks: [],
  inputNames: [],
  tools: [],
  maxToolUses: '5',
  requireTools: false,
  fallbackModels: '',
  answerAs: 'text',
  fieldNames: [],
  fieldKinds: [],
  outputSchema: '',
  channels: [],
  notify: 'always',
  watch: '',
  alerts: 'default',
  overdueMinutes: '15',
  failuresInRow: '3',
  costAboveUsd: '',
  durationAboveMs: '',
  fallbacksInRow: '',
  missed: 'latest',
  overlap: 'skip',
  maxRetries: '3',
  timeoutMs: '',
  endsAt: '',
  pausedUntil: '',
  maxRuns: '',
  monthlyBudgetUsd: '',
  sources: [],
  onlyChanged: false,
};

const {
  clock: _clock,
  previousResult: _previousResult,
  requireTools: _requireTools,
  tools: _tools,
  inputTasks: _inputTasks,
  inputNames: _inputNames,
  channels: _channels,
  fieldNames: _fieldNames,
  fieldKinds: _fieldKinds,
  sources: _sources,
  onlyChanged: _onlyChanged,
  ...texts
} = DEFAULTS;
const TEXT_FIELDS = Object.keys(texts) as TextField[];

/** The fields of a new task. */
export const createSettingsValues = (): SettingsValues => ({ ...DEFAULTS });

export function readSettingsValues(form: Form): SettingsValues {
  const read = Object.fromEntries(TEXT_FIELDS.map((field) => [field, form.text(field).trim()]));
  return {
    ...(read as Pick<SettingsValues, TextField>),
    clock: form.has('clock'),
    previousResult: form.has('previousResult'),
    requireTools: form.has('requireTools'),
    inputTasks: form.list('inputTask').slice(0, MAX_READ),
    inputNames: form
      .list('inputName')
      .slice(0, MAX_READ)
      .map((name) => name.trim()),
    sources: readSourceValues(form),
    onlyChanged: form.has('onlyChanged'),
    tools: [...new Set(form.list('tools'))].slice(0, MAX_READ),
    channels: [...new Set(form.list('channels'))].slice(0, MAX_READ),
    fieldNames: form
      .list('fieldName')
      .slice(0, MAX_READ)
      .map((name) => name.trim()),
    fieldKinds: form.list('fieldKind').slice(0, MAX_READ),
  };
}

/** Without an exponent. */
const writeNumber = (number: number | null | undefined): string =>
  number === null || number === undefined ? '' : number.toFixed(9).replace(/\.?0+$/, '');

const writeSeconds = (ms: number | null | undefined): string => writeNumber(typeof ms === 'number' ? ms / 1000 : null);

const writeMoment = (at: string | null, timezone: string): string =>
  at === null ? '' : formatLocalTime(new Date(at), timezone);

function typeAlerts(alerts: StoredTask['alerts']): Partial<SettingsValues> {
  if (alerts === null) return { alerts: 'default' };
  if (Object.keys(alerts).length === 0) return { alerts: 'none' };
  return {
    alerts: 'own',
    overdueMinutes: writeNumber(alerts.overdueMinutes),
    failuresInRow: writeNumber(alerts.failuresInRow),
    costAboveUsd: writeNumber(alerts.costAboveUsd),
    durationAboveMs: writeSeconds(alerts.durationAboveMs),
    fallbacksInRow: writeNumber(alerts.fallbacksInRow),
  };
}

function toAnswerValues(schema: StoredTask['outputSchema']): Partial<SettingsValues> {
  const { form, fields } = readAnswerForm(schema);
  return {
    answerAs: form,
    fieldNames: fields.map(({ name }) => name),
    fieldKinds: fields.map(({ kind }) => kind),
    outputSchema: schema === null ? '' : JSON.stringify(schema, null, 2),
  };
}

/** The fields of a task. */
export const toSettingsValues = (task: OptionalSettings & { timezone: string }): SettingsValues => ({
  ...DEFAULTS,
  ...task.context,
  inputTasks: task.inputs.map(({ taskId }) => String(taskId)),
  inputNames: task.inputs.map(({ name }) => name),
  tools: task.tools,
  maxToolUses: String(task.maxToolUses),
  requireTools: task.requireTools,
  fallbackModels: task.fallbackModels.join('\n'),
  ...toAnswerValues(task.outputSchema),
  channels: task.channels,
  notify: task.notify,
  watch: task.watch.join('\n'),
  ...typeAlerts(task.alerts),
  missed: task.missed,
  overlap: task.overlap,
  maxRetries: String(task.maxRetries),
  timeoutMs: writeSeconds(task.timeoutMs),
  endsAt: writeMoment(task.endsAt, task.timezone),
  pausedUntil: writeMoment(task.pausedUntil, task.timezone),
  maxRuns: writeNumber(task.maxRuns),
  monthlyBudgetUsd: writeNumber(task.monthlyBudgetUsd),
  sources: toSourceValues(task.sources),
  onlyChanged: task.runIf === 'changed',
});
