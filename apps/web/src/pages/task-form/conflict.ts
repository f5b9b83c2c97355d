import type { Texts } from '@carillon/texts';
import type { StoredTask, TaskFormData } from '../../actions.ts';
import { renderDifferences } from '../../components/differences.ts';
import { describeSettings, type OptionalSettings } from '../../components/task-settings.ts';
import { type Html, html } from '../../html.ts';
import type { FormValues } from './form-values.ts';
import { toFormValues } from './form-values.ts';
import { describePlan, type Plan } from './schedule/plan.ts';

interface Side {
  values: FormValues;
  settings: OptionalSettings;
  plan: Pick<Plan, 'words' | 'cron'>;
}

const FIELDS = [
  'name',
  'prompt',
  'description',
  'aiModel',
  'maxTokens',
  'temperature',
  'notificationEmail',
  'webhookUrl',
  'outputSchema',
] as const;

function describeSchedule({ values, plan }: Side, texts: Texts): string {
  const text = plan.words?.every === 'once' ? texts.taskForm.onceAt(values.date, values.at) : describePlan(plan, texts);
  return `${text}, ${texts.schedule.zoneTime(values.timezone)}`;
}

interface Reader {
  now: Date;
  texts: Texts;
}

interface Row {
  label: string;
  mine: string | Html;
  stored: string | Html;
}

/** The schema is one of the texts, and channels have names. */
function findSettingRows(mine: Side, stored: Side, { now, texts }: Reader): Row[] {
  const describe = ({ settings, values }: Side) => {
    const reader = { now, timeZone: values.timezone, texts };
    const described = describeSettings({ ...settings, outputSchema: null, channels: [] }, reader);
    return new Map(described.map(({ label, words }) => [label, words]));
  };
  const [mySettings, storedSettings] = [describe(mine), describe(stored)];
  const labels = new Set([...mySettings.keys(), ...storedSettings.keys()]);
  return [...labels].map((label) => ({
    label,
    mine: mySettings.get(label) ?? texts.taskForm.default,
    stored: storedSettings.get(label) ?? texts.taskForm.default,
  }));
}

function findRows(mine: Side, stored: Side, { files, channels }: TaskFormData, reader: Reader): Row[] {
  const { fields, schedule } = reader.texts.taskForm;
  const nameChannels = ({ settings }: Side) =>
    settings.channels.map((id) => channels.find((channel) => channel.id === id)?.name ?? id).join(', ');
  const nameFiles = ({ values }: Side) =>
    values.attachments.map((id) => files.find((file) => file.id === id)?.name ?? id).join(', ');
  const rows = FIELDS.map(
    (field): Row => ({ label: fields[field], mine: mine.values[field], stored: stored.values[field] }),
  );
  rows.push({ label: fields.files, mine: nameFiles(mine), stored: nameFiles(stored) });
  rows.push({ label: fields.channels, mine: nameChannels(mine), stored: nameChannels(stored) });
  rows.push({
    label: schedule,
    mine: describeSchedule(mine, reader.texts),
    stored: describeSchedule(stored, reader.texts),
  });
  rows.push(...findSettingRows(mine, stored, reader));
  return rows.filter((row) => String(row.mine) !== String(row.stored));
}

interface Conflict {
  values: FormValues;
  settings: OptionalSettings;
  plan: Plan;
  task: StoredTask;
  /** Of the stored schedule. */
  storedPlan: Pick<Plan, 'words' | 'cron'>;
  formData: TaskFormData;
}

/** Both versions next to each other, with what differs. The form below still has everything that was typed. */
export function renderConflict(reader: Reader, { values, settings, plan, task, storedPlan, formData }: Conflict): Html {
  const { taskForm } = reader.texts;
  const stored = { values: toFormValues(task, reader.now), settings: task, plan: storedPlan };
  const rows = findRows({ values, settings, plan }, stored, formData, reader);
  const renderValue = (text: string | Html): Html =>
    text === '' ? html`<span class="muted">${taskForm.empty}</span>` : html`${text}`;
  const differences =
    task.prompt !== values.prompt &&
    renderDifferences(task.prompt.split('\n'), values.prompt.split('\n'), reader.texts);
  return html`<section class="gap" aria-labelledby="versions"><h2 id="versions">${taskForm.twoVersions}</h2>${
    rows.length === 0
      ? html`<p>${taskForm.sameFields}</p>`
      : html`<div class="rows"><table class="stack versions"><caption class="vh">${taskForm.differences}</caption>
<thead><tr><th scope="col">${taskForm.field}</th><th scope="col">${taskForm.yours}</th><th scope="col">${taskForm.stored}</th></tr></thead>
<tbody>${rows.map(
          ({ label, mine, stored }) =>
            html`<tr><th scope="row" class="whole tight">${label}</th><td class="whole" data-label="${taskForm.yours}:">${renderValue(mine)}</td><td class="whole" data-label="${taskForm.stored}:">${renderValue(stored)}</td></tr>`,
        )}</tbody></table></div>`
  }${differences && html`<h3>${taskForm.promptChanges}</h3>${differences}`}
<p>${taskForm.yoursBelow}</p></section>`;
}
