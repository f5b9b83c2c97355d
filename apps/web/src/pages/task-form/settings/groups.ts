import {
  describeSettings,
  SETTING_GROUPS,
  type SettingGroup,
  type SettingInWords,
} from '../../../components/task-settings.ts';
import { type Html, html, raw } from '../../../html.ts';
import { renderFiles, renderNameFields } from '../prompt.ts';
import { renderAnswer } from './answer.ts';
import { renderContext } from './context.ts';
import { renderErrorHandling } from './error-handling.ts';
import { renderLimits } from './limits.ts';
import { renderModelFields } from './model.ts';
import { renderNotifications } from './notifications.ts';
import { readSettings } from './read-settings.ts';
import type { SectionProps } from './section-props.ts';
import { renderWebTools } from './web-tools.ts';

type GroupName = Exclude<SettingGroup, 'sources'> | 'name' | 'model' | 'files';

interface Group {
  fields: readonly string[];
  render: (props: SectionProps) => Html;
  /** What is set besides the settings that `describeSettings` says. */
  describe?: (props: SectionProps) => string[];
}

const GROUPS: Record<GroupName, Group> = {
  tell: {
    fields: [
      'channels',
      'notify',
      'notificationEmail',
      'webhookUrl',
      'watch',
      'alerts',
      'overdueMinutes',
      'failuresInRow',
      'costAboveUsd',
      'durationAboveMs',
      'fallbacksInRow',
    ],
    render: renderNotifications,
    describe: ({ values, formData }) => [
      ...values.channels.map((id) => formData.channels.find((channel) => channel.id === id)?.name ?? id),
      ...[values.notificationEmail, values.webhookUrl].filter((address) => address !== ''),
    ],
  },
  name: {
    fields: ['name', 'description'],
    render: renderNameFields,
    describe: ({ values }) => [values.name].filter((name) => name !== ''),
  },
  model: {
    fields: ['aiModel', 'maxTokens', 'temperature'],
    render: renderModelFields,
    describe: ({ values, formData, texts }) => [
      values.aiModel === formData.defaultModel ? texts.taskForm.modelDefault : values.aiModel,
      texts.tasks.tokens(Number(values.maxTokens) || 0),
      ...(values.temperature === '0.70' ? [] : [`${texts.taskForm.fields.temperature} ${values.temperature}`]),
    ],
  },
  files: {
    fields: ['files'],
    render: renderFiles,
    describe: ({ values, formData, texts }) =>
      values.attachments.map((id) => formData.files.find((file) => file.id === id)?.name ?? texts.taskForm.deletedFile),
  },
  knows: {
    fields: ['clock', 'previousResult', 'inputs'],
    render: renderContext,
  },
  web: { fields: ['tools', 'maxToolUses', 'requireTools'], render: renderWebTools },
  answer: { fields: ['answerAs', 'fieldName', 'outputSchema'], render: renderAnswer },
  faults: {
    fields: ['fallbackModels', 'missed', 'overlap', 'maxRetries', 'timeoutMs'],
    render: renderErrorHandling,
  },
  limits: {
    fields: ['endsAt', 'maxRuns', 'pausedUntil', 'monthlyBudgetUsd'],
    render: renderLimits,
  },
};

/** Where a field has the name of the group. */
const IDS: Partial<Record<GroupName, string>> = { name: 'naming', files: 'attachments' };

const NAMES: readonly GroupName[] = [
  'tell',
  'name',
  'model',
  'files',
  ...SETTING_GROUPS.filter((name) => name !== 'tell' && name !== 'sources'),
];

/** `Maximum runs: 20 · Monthly budget: $5.00`; null while everything has its default. */
function describeGroup(name: GroupName, props: SectionProps, described: readonly SettingInWords[]): Html | null {
  const { fields, describe } = GROUPS[name];
  const settings = described.filter((setting) => setting.group === name);
  const isOne = fields.length <= 3;
  const said = [
    ...(describe?.(props) ?? []).map((text) => html`${text}`),
    ...settings.map(({ label, words }) => html`${!isOne && `${label}: `}${words}`),
  ];
  return said.length === 0 ? null : html`${said.map((text, at) => html`${at > 0 && ' · '}${text}`)}`;
}

/** The settings that have a default, each group with what is set in it. A group is open if something in it is refused. */
export function renderGroups(props: SectionProps): Html {
  const { values, formData, errors, now, sent, texts } = props;
  const { taskForm } = texts;
  const { settings } = readSettings(values, formData.task, texts);
  // The channels are named.
  const described = describeSettings({ ...settings, channels: [] }, { now, timeZone: values.timezone, texts });
  return html`<section class="gap" aria-labelledby="more"><h2 id="more">${taskForm.moreSettings}</h2><div class="groups">${NAMES.map(
    (name) => {
      const group = GROUPS[name];
      const { title, usual } = taskForm.groups[name];
      const isRefused = group.fields.some((field) => errors.fields[field]);
      const isAsked = name === 'knows' && sent !== undefined;
      return html`<details id="${IDS[name] ?? name}"${(isRefused || isAsked) && raw(' open')}><summary><b>${title}</b> <span class="said">${describeGroup(name, props, described) ?? usual}</span></summary>
<div class="gap">${group.render(props)}</div></details>`;
    },
  )}</div></section>`;
}
