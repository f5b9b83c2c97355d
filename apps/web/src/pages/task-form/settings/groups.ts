import {
  describeSettings,
  type OptionalSettings,
  SETTING_GROUPS,
  type SettingGroup,
} from '../../../components/task-settings.ts';
import { type Html, html, raw } from '../../../html.ts';
import { renderAnswer } from './answer.ts';
import { renderContext } from './context.ts';
import { renderErrorHandling } from './error-handling.ts';
import { renderLimits } from './limits.ts';
import { renderNotifications } from './notifications.ts';
import { readSettings } from './read-settings.ts';
import type { SectionProps } from './section-props.ts';
import type { SettingsValues } from './settings-values.ts';
import { renderWebTools } from './web-tools.ts';

interface Group {
  title: string;
  /** Said beside the title while everything in it has its default. */
  usual: string;
  fields: readonly (keyof SettingsValues)[];
  render: (props: SectionProps) => Html;
}

const GROUPS: Record<SettingGroup, Group> = {
  knows: {
    title: 'What the model knows',
    usual: 'the date and time of the run',
    fields: ['clock', 'previousResult'],
    render: renderContext,
  },
  web: { title: 'Web tools', usual: 'none', fields: ['tools', 'maxToolUses'], render: renderWebTools },
  answer: { title: 'Shape of the answer', usual: 'free text', fields: ['outputSchema'], render: renderAnswer },
  tell: {
    title: 'When to tell you',
    usual: 'after every run',
    fields: [
      'channels',
      'notify',
      'watch',
      'alerts',
      'overdueMinutes',
      'failuresInRow',
      'costAboveUsd',
      'durationAboveMs',
    ],
    render: renderNotifications,
  },
  faults: {
    title: 'If something goes wrong',
    usual: 'tried again 3 times',
    fields: ['missed', 'overlap', 'maxRetries', 'timeoutMs'],
    render: renderErrorHandling,
  },
  limits: {
    title: 'Limits',
    usual: 'none',
    fields: ['endsAt', 'maxRuns', 'pausedUntil', 'monthlyBudgetUsd'],
    render: renderLimits,
  },
};

/** `Stops after 20 runs · Budget $5.00 a month` */
function sayGroup(
  group: SettingGroup,
  settings: OptionalSettings,
  clock: { now: Date; timeZone: string },
): Html | null {
  const described = describeSettings(settings, clock).filter((setting) => setting.group === group);
  if (described.length === 0) return null;
  const isOne = GROUPS[group].fields.length <= 2;
  return html`${described.map(
    ({ label, words }, at) =>
      html`${at > 0 && ' · '}${!isOne && `${label}${label.startsWith('If') ? ', ' : ' '}`}${words}`,
  )}`;
}

/** The settings that have a default. A group is open if something in it is set, or refused. */
export function renderGroups(props: SectionProps): Html {
  const { values, formData, errors, now, sent } = props;
  const { settings } = readSettings(values, formData.task);
  const clock = { now, timeZone: values.timezone };
  return html`<section class="gap" aria-labelledby="more"><h2 id="more">More</h2><div class="groups">${SETTING_GROUPS.map(
    (name) => {
      const group = GROUPS[name];
      const said = sayGroup(name, settings, clock);
      const isRefused = group.fields.some((field) => errors.fields[field]);
      const isAsked = name === 'knows' && sent !== undefined;
      return html`<details id="${name}"${(said !== null || isRefused || isAsked) && raw(' open')}><summary><b>${group.title}</b> <span class="said">${said ?? group.usual}</span></summary>
<div class="gap">${group.render(props)}</div></details>`;
    },
  )}</div></section>`;
}
