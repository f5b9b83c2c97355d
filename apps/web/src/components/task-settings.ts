import type { WebActionData } from '../actions.ts';
import { type Html, html } from '../html.ts';
import { countWords, formatCost, formatDuration, formatMomentInText } from './format.ts';

type Task = WebActionData<'getTaskPage'>['task'];

/** The settings of a task that have a default. */
export type OptionalSettings = Pick<
  Task,
  | 'context'
  | 'tools'
  | 'maxToolUses'
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
>;

export const SETTING_GROUPS = ['knows', 'web', 'answer', 'tell', 'faults', 'limits'] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

export interface SettingInWords {
  group: SettingGroup;
  label: string;
  words: Html;
}

interface Clock {
  now: Date;
  timeZone: string;
}

/** The settings that are not the default, in words. */
export function describeSettings(settings: OptionalSettings, clock: Clock): SettingInWords[] {
  const described: [SettingGroup, string, Html | string | null][] = [
    ['knows', 'Model knows', describeContext(settings)],
    ['web', 'Web tools', describeTools(settings)],
    ['answer', 'Answer', describeSchema(settings)],
    ['tell', 'Sends', describeChannels(settings)],
    ['tell', 'Tells you', describeNotify(settings)],
    ['tell', 'Watches', settings.notify === 'change' ? null : describeWatch(settings)],
    ['tell', 'Alerts', describeAlerts(settings)],
    ['faults', 'If missed', MISSED[settings.missed]],
    ['faults', 'If still running', OVERLAP[settings.overlap]],
    ['faults', 'If it fails', describeRetries(settings)],
    ['faults', 'Gives up after', settings.timeoutMs === null ? null : formatDuration(settings.timeoutMs)],
    ['limits', 'Paused until', describePause(settings, clock)],
    ['limits', 'Ends', describeMoment(settings.endsAt, clock)],
    ['limits', 'Stops after', settings.maxRuns === null ? null : countWords(settings.maxRuns, 'run')],
    [
      'limits',
      'Budget',
      settings.monthlyBudgetUsd === null ? null : `${formatCost(settings.monthlyBudgetUsd)} a month`,
    ],
  ];
  return described.flatMap(([group, label, words]) =>
    words === null ? [] : [{ group, label, words: html`${words}` }],
  );
}

function describeContext({ context: { clock, previousResult } }: OptionalSettings): string | null {
  if (clock) return previousResult ? 'date, time and the last answer' : null;
  return previousResult ? 'the last answer' : 'only the prompt';
}

const TOOLS: Record<Task['tools'][number], string> = { web_search: 'searches', web_fetch: 'reads pages' };

function describeTools({ tools, maxToolUses }: OptionalSettings): string | null {
  if (tools.length === 0) return null;
  return `${tools.map((tool) => TOOLS[tool]).join(' and ')}, at most ${countWords(maxToolUses, 'time')} a run`;
}

const SHOWN_NAMES = 4;

function describeSchema({ outputSchema }: OptionalSettings): Html | null {
  if (outputSchema === null) return null;
  const { properties } = outputSchema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  if (names.length === 0) return html`JSON that matches a schema`;
  const more = names.length > SHOWN_NAMES && html` and ${names.length - SHOWN_NAMES} more`;
  return html`JSON with ${listCodes(names.slice(0, SHOWN_NAMES))}${more}`;
}

const listCodes = (texts: readonly string[]): Html =>
  html`${texts.map((text, at) => html`${at > 0 && ', '}<code>${text}</code>`)}`;

function describeWatch({ watch }: OptionalSettings): Html | null {
  return watch.length === 0 ? null : listCodes(watch);
}

const describeChannels = ({ channels }: OptionalSettings): string | null =>
  channels.length === 0 ? null : `to ${countWords(channels.length, 'channel')}`;

function describeNotify({ notify, watch }: OptionalSettings): Html | null {
  if (notify === 'always') return null;
  if (notify === 'failure') return html`only when a run fails`;
  if (watch.length === 0) return html`only when the answer changes`;
  return html`only when ${listCodes(watch)} ${watch.length === 1 ? 'changes' : 'change'}`;
}

function describeAlerts({ alerts }: OptionalSettings): string | null {
  if (alerts === null) return null;
  const { overdueMinutes, failuresInRow, costAboveUsd, durationAboveMs } = alerts;
  const rules = [
    overdueMinutes !== undefined && `overdue by ${overdueMinutes} min`,
    failuresInRow !== undefined && `${countWords(failuresInRow, 'failure')} in a row`,
    costAboveUsd !== undefined && `a run above ${formatCost(costAboveUsd)}`,
    durationAboveMs !== undefined && `a run above ${formatDuration(durationAboveMs)}`,
  ].filter((rule) => rule !== false);
  return rules.length === 0 ? 'none' : rules.join(', ');
}

const MISSED: Record<Task['missed'], string | null> = {
  latest: null,
  none: 'not made up for',
  all: 'all made up for, at most 10',
};

const OVERLAP: Record<Task['overlap'], string | null> = {
  skip: null,
  queue: 'the next run waits',
  cancel: 'the next run stops it',
};

function describeRetries({ maxRetries }: OptionalSettings): string | null {
  if (maxRetries === 3) return null;
  return maxRetries === 0 ? 'not tried again' : `tried again ${maxRetries === 1 ? 'once' : 'twice'}`;
}

const describeMoment = (at: string | null, { now, timeZone }: Clock): string | null =>
  at === null ? null : formatMomentInText(at, timeZone, now);

/** A pause that is over says nothing. */
const describePause = ({ pausedUntil }: OptionalSettings, clock: Clock): string | null =>
  pausedUntil !== null && new Date(pausedUntil) > clock.now ? describeMoment(pausedUntil, clock) : null;
