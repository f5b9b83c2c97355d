import {
  describeSettings,
  SETTING_GROUPS,
  type SettingGroup,
  type SettingInWords,
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
  fields: readonly (keyof SettingsValues)[];
  render: (props: SectionProps) => Html;
}

const GROUPS: Record<SettingGroup, Group> = {
  knows: {
    fields: ['clock', 'previousResult'],
    render: renderContext,
  },
  web: { fields: ['tools', 'maxToolUses', 'requireTools'], render: renderWebTools },
  answer: { fields: ['outputSchema'], render: renderAnswer },
  tell: {
    fields: [
      'channels',
      'notify',
      'watch',
      'alerts',
      'overdueMinutes',
      'failuresInRow',
      'costAboveUsd',
      'durationAboveMs',
      'fallbacksInRow',
    ],
    render: renderNotifications,
  },
  faults: {
    fields: ['fallbackModels', 'missed', 'overlap', 'maxRetries', 'timeoutMs'],
    render: renderErrorHandling,
  },
  limits: {
    fields: ['endsAt', 'maxRuns', 'pausedUntil', 'monthlyBudgetUsd'],
    render: renderLimits,
  },
};

/** `Maximum runs: 20 · Monthly budget: $5.00`; null while everything has its default. */
function describeGroup(group: SettingGroup, described: readonly SettingInWords[]): Html | null {
  const settings = described.filter((setting) => setting.group === group);
  if (settings.length === 0) return null;
  const isOne = GROUPS[group].fields.length <= 2;
  return html`${settings.map(({ label, words }, at) => html`${at > 0 && ' · '}${!isOne && `${label}: `}${words}`)}`;
}

/** The settings that have a default. A group is open if something in it is set, or refused. */
export function renderGroups(props: SectionProps): Html {
  const { values, formData, errors, now, sent, texts } = props;
  const { taskForm } = texts;
  const { settings } = readSettings(values, formData.task, texts);
  const described = describeSettings(settings, { now, timeZone: values.timezone, texts });
  return html`<section class="gap" aria-labelledby="more"><h2 id="more">${taskForm.advanced}</h2><div class="groups">${SETTING_GROUPS.map(
    (name) => {
      const group = GROUPS[name];
      const { title, usual } = taskForm.groups[name];
      const summary = describeGroup(name, described);
      const isRefused = group.fields.some((field) => errors.fields[field]);
      const isAsked = name === 'knows' && sent !== undefined;
      return html`<details id="${name}"${(summary !== null || isRefused || isAsked) && raw(' open')}><summary><b>${title}</b> <span class="said">${summary ?? usual}</span></summary>
<div class="gap">${group.render(props)}</div></details>`;
    },
  )}</div></section>`;
}
