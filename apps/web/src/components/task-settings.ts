import type { Parts, Texts } from '@carillon/texts';
import type { WebActionData } from '../actions.ts';
import { type Html, html } from '../html.ts';

type Task = WebActionData<'getTaskPage'>['task'];

/** The settings of a task that have a default. */
export type OptionalSettings = Pick<
  Task,
  | 'context'
  | 'inputs'
  | 'tools'
  | 'maxToolUses'
  | 'requireTools'
  | 'fallbackModels'
  | 'outputSchema'
  | 'channels'
  | 'notify'
  | 'watch'
  | 'alerts'
  | 'missed'
  | 'overlap'
  | 'maxRetries'
  | 'timeoutMs'
  | 'endsAt'
  | 'maxRuns'
  | 'pausedUntil'
  | 'monthlyBudgetUsd'
  | 'sources'
  | 'runIf'
>;

export const SETTING_GROUPS = ['sources', 'knows', 'web', 'answer', 'tell', 'faults', 'limits'] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

export interface SettingInWords {
  group: SettingGroup;
  label: string;
  words: Html;
}

interface Reader {
  now: Date;
  timeZone: string;
  texts: Texts;
}

type Words = Html | Parts<Html | string> | string;

/** The settings that are not the default, in words. */
export function describeSettings(settings: OptionalSettings, reader: Reader): SettingInWords[] {
  const {
    taskSettings,
    formats,
    versions,
    taskForm: { fields, pausedUntil },
  } = reader.texts;
  const { channels, inputs, maxRuns, maxRetries, timeoutMs, monthlyBudgetUsd } = settings;
  const described: [SettingGroup, string, Words | null][] = [
    ['sources', fields.sources, describeSources(settings)],
    ['sources', taskSettings.runIf, settings.runIf === 'changed' ? taskSettings.onlyChanged : null],
    ['knows', taskSettings.context, describeContext(settings, taskSettings)],
    ['knows', versions.fields.inputs, inputs.length === 0 ? null : listCodes(inputs.map(({ name }) => name))],
    ['web', fields.tools, describeTools(settings, taskSettings)],
    ['answer', taskSettings.answerFormat, describeSchema(settings, taskSettings)],
    ['tell', fields.channels, channels.length === 0 ? null : formats.number(channels.length)],
    ['tell', fields.notify, describeNotify(settings, taskSettings)],
    ['tell', fields.watch, settings.notify === 'change' ? null : describeWatch(settings)],
    ['tell', fields.alerts, describeAlerts(settings, taskSettings)],
    ['faults', fields.fallbackModels, describeFallbacks(settings)],
    ['faults', fields.missed, describeMissed(settings, taskSettings)],
    ['faults', fields.overlap, describeOverlap(settings, taskSettings)],
    [
      'faults',
      fields.maxRetries,
      maxRetries === DEFAULT_RETRIES ? null : maxRetries === 0 ? taskSettings.none : formats.number(maxRetries),
    ],
    ['faults', fields.timeoutMs, timeoutMs === null ? null : formats.duration(timeoutMs)],
    ['limits', pausedUntil, describePause(settings, reader)],
    ['limits', fields.endsAt, describeMoment(settings.endsAt, reader)],
    ['limits', fields.maxRuns, maxRuns === null ? null : formats.number(maxRuns)],
    ['limits', fields.monthlyBudgetUsd, monthlyBudgetUsd === null ? null : formats.money(monthlyBudgetUsd)],
  ];
  return described.flatMap(([group, label, words]) =>
    words === null ? [] : [{ group, label, words: html`${words}` }],
  );
}

type SettingTexts = Texts['taskSettings'];

/** `shop.example.com, "bells"`; null without any. */
const describeSources = ({ sources }: OptionalSettings): string | null =>
  sources.map(({ url, search }) => (url === undefined ? `"${search}"` : (URL.parse(url)?.host ?? url))).join(', ') ||
  null;

const DEFAULT_RETRIES = 3;

function describeContext(
  { context: { clock, previousResult } }: OptionalSettings,
  { clockAndAnswer, onlyAnswer, onlyPrompt }: SettingTexts,
): string | null {
  if (clock) return previousResult ? clockAndAnswer : null;
  return previousResult ? onlyAnswer : onlyPrompt;
}

function describeTools({ tools, maxToolUses, requireTools }: OptionalSettings, texts: SettingTexts): string | null {
  if (tools.length === 0) return null;
  // A refused form may have others.
  const names = tools.map((tool) => texts.toolNames[tool] ?? tool);
  const words = texts.tools(names, maxToolUses);
  return requireTools ? `${words}, ${texts.required}` : words;
}

const describeFallbacks = ({ fallbackModels }: OptionalSettings): Html | null =>
  fallbackModels.length === 0 ? null : listCodes(fallbackModels);

const SHOWN_NAMES = 4;

function describeSchema({ outputSchema }: OptionalSettings, texts: SettingTexts): Words | null {
  if (outputSchema === null) return null;
  const { properties } = outputSchema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  if (names.length === 0) return texts.jsonSchema;
  const listed = listCodes(names.slice(0, SHOWN_NAMES));
  const more = names.length - SHOWN_NAMES;
  return more > 0 ? texts.jsonWithMore(listed, more) : texts.jsonWith(listed);
}

const listCodes = (texts: readonly string[]): Html =>
  html`${texts.map((text, at) => html`${at > 0 && ', '}<code>${text}</code>`)}`;

function describeWatch({ watch }: OptionalSettings): Html | null {
  return watch.length === 0 ? null : listCodes(watch);
}

function describeNotify({ notify, watch }: OptionalSettings, texts: SettingTexts): Words | null {
  if (notify === 'always') return null;
  if (notify === 'news') return texts.onNews;
  if (notify === 'failure') return texts.onFailure;
  return watch.length === 0 ? texts.onChange : texts.onChangeOf(listCodes(watch));
}

function describeAlerts({ alerts }: OptionalSettings, texts: SettingTexts): string | null {
  if (alerts === null) return null;
  const { overdueMinutes, failuresInRow, costAboveUsd, durationAboveMs, fallbacksInRow } = alerts;
  const rules = [
    overdueMinutes !== undefined && texts.overdue(overdueMinutes),
    failuresInRow !== undefined && texts.failures(failuresInRow),
    costAboveUsd !== undefined && texts.costAbove(costAboveUsd),
    durationAboveMs !== undefined && texts.durationAbove(durationAboveMs),
    fallbacksInRow !== undefined && texts.fallbackAnswers(fallbacksInRow),
  ].filter((rule) => rule !== false);
  return rules.length === 0 ? texts.none : rules.join(', ');
}

const describeMissed = ({ missed }: OptionalSettings, { missedSkipped, missedRun }: SettingTexts): string | null =>
  ({ latest: null, none: missedSkipped, all: missedRun })[missed] ?? null;

const describeOverlap = ({ overlap }: OptionalSettings, texts: SettingTexts): string | null =>
  ({ skip: null, queue: texts.overlapQueued, cancel: texts.overlapStops })[overlap] ?? null;

const describeMoment = (at: string | null, { texts, ...clock }: Reader): string | null =>
  at === null ? null : texts.formats.momentLabel(new Date(at), clock);

/** A pause that is over says nothing. */
const describePause = ({ pausedUntil }: OptionalSettings, reader: Reader): string | null =>
  pausedUntil !== null && new Date(pausedUntil) > reader.now ? describeMoment(pausedUntil, reader) : null;
