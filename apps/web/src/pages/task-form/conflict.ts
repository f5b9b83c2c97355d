import { renderDifferences } from '../../components/differences.ts';
import { describeSettings, type OptionalSettings } from '../../components/task-settings.ts';
import { type Html, html } from '../../html.ts';
import type { StoredTask, TaskFormData } from './form-data.ts';
import type { FormValues } from './form-values.ts';
import { toFormValues } from './form-values.ts';
import { describePlan, type Plan } from './schedule/plan.ts';

interface Side {
  values: FormValues;
  settings: OptionalSettings;
  plan: Pick<Plan, 'words' | 'cron'>;
}

const LABELS = {
  name: 'Name',
  prompt: 'Prompt',
  description: 'Description',
  aiModel: 'Model',
  maxTokens: 'Longest answer, in tokens',
  temperature: 'Temperature',
  notificationEmail: 'E-mail address',
  webhookUrl: 'Webhook address',
  outputSchema: 'JSON schema',
} as const;

function describeWhen({ values, plan }: Side): string {
  const once = plan.words?.every === 'once' ? `, on ${values.date} at ${values.at}` : '';
  return `${describePlan(plan)}${once}, ${values.timezone} time`;
}

interface Row {
  label: string;
  mine: string | Html;
  stored: string | Html;
}

/** The schema is one of the texts, and channels have names. */
function findSettingRows(mine: Side, stored: Side, now: Date): Row[] {
  const describe = ({ settings, values }: Side) => {
    const clock = { now, timeZone: values.timezone };
    const described = describeSettings({ ...settings, outputSchema: null, channels: [] }, clock);
    return new Map(described.map(({ label, words }) => [label, words]));
  };
  const [mySettings, storedSettings] = [describe(mine), describe(stored)];
  const labels = new Set([...mySettings.keys(), ...storedSettings.keys()]);
  return [...labels].map((label) => ({
    label,
    mine: mySettings.get(label) ?? 'as usual',
    stored: storedSettings.get(label) ?? 'as usual',
  }));
}

function findRows(mine: Side, stored: Side, { files, channels }: TaskFormData, now: Date): Row[] {
  const nameChannels = ({ settings }: Side) =>
    settings.channels.map((id) => channels.find((channel) => channel.id === id)?.name ?? id).join(', ');
  const nameFiles = ({ values }: Side) =>
    values.attachments.map((id) => files.find((file) => file.id === id)?.name ?? id).join(', ');
  const rows = Object.entries(LABELS).map(
    ([field, label]): Row => ({
      label,
      mine: mine.values[field as keyof typeof LABELS],
      stored: stored.values[field as keyof typeof LABELS],
    }),
  );
  rows.push({ label: 'Attachments', mine: nameFiles(mine), stored: nameFiles(stored) });
  rows.push({ label: 'Channels', mine: nameChannels(mine), stored: nameChannels(stored) });
  rows.push({ label: 'When', mine: describeWhen(mine), stored: describeWhen(stored) });
  rows.push(...findSettingRows(mine, stored, now));
  return rows.filter((row) => String(row.mine) !== String(row.stored));
}

const renderValue = (text: string | Html): Html =>
  text === '' ? html`<span class="muted">empty</span>` : html`${text}`;

interface Conflict {
  values: FormValues;
  settings: OptionalSettings;
  plan: Plan;
  task: StoredTask;
  /** Of the stored schedule. */
  storedPlan: Pick<Plan, 'words' | 'cron'>;
  formData: TaskFormData;
  now: Date;
}

/** Both versions beside each other, with what differs. The form below still has everything that was typed. */
export function renderConflict({ values, settings, plan, task, storedPlan, formData, now }: Conflict): Html {
  const stored = { values: toFormValues(task, now), settings: task, plan: storedPlan };
  const rows = findRows({ values, settings, plan }, stored, formData, now);
  const differences = renderDifferences(task.prompt, values.prompt);
  return html`<section class="gap" aria-labelledby="versions"><h2 id="versions">Two versions</h2>${
    rows.length === 0
      ? html`<p>They do not differ in anything that this form has. The task was paused or resumed.</p>`
      : html`<div class="rows"><table class="stack versions"><caption class="vh">What differs between your version and the stored one</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Yours</th><th scope="col">Stored</th></tr></thead>
<tbody>${rows.map(
          ({ label, mine, stored }) =>
            html`<tr><th scope="row" class="whole tight">${label}</th><td class="whole" data-label="Yours:">${renderValue(mine)}</td><td class="whole" data-label="Stored:">${renderValue(stored)}</td></tr>`,
        )}</tbody></table></div>`
  }${differences && html`<h3>What your prompt changes</h3>${differences}`}
<p>Below is your version. Change it if you like, then choose.</p></section>`;
}
