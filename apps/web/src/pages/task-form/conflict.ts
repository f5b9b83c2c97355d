import { type Html, html } from '../../html.ts';
import { renderDifferences } from '../../parts/differences.ts';
import { describePlan, type Plan } from './plan.ts';
import type { OpenedForm, StoredTask, Typed } from './typed.ts';
import { typeTask } from './typed.ts';

interface Side {
  typed: Typed;
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
} as const;

function describeWhen({ typed, plan }: Side): string {
  const once = plan.words?.every === 'once' ? `, on ${typed.date} at ${typed.at}` : '';
  return `${describePlan(plan)}${once}, ${typed.timezone} time`;
}

interface Row {
  label: string;
  mine: string;
  stored: string;
}

function findRows(mine: Side, stored: Side, { files }: OpenedForm): Row[] {
  const nameFiles = ({ typed }: Side) =>
    typed.attachments.map((id) => files.find((file) => file.id === id)?.name ?? id).join(', ');
  const rows = Object.entries(LABELS).map(
    ([field, label]): Row => ({
      label,
      mine: mine.typed[field as keyof typeof LABELS],
      stored: stored.typed[field as keyof typeof LABELS],
    }),
  );
  rows.push({ label: 'Attachments', mine: nameFiles(mine), stored: nameFiles(stored) });
  rows.push({ label: 'When', mine: describeWhen(mine), stored: describeWhen(stored) });
  return rows.filter((row) => row.mine !== row.stored);
}

const renderValue = (text: string): Html => (text === '' ? html`<span class="muted">empty</span>` : html`${text}`);

interface Conflict {
  typed: Typed;
  plan: Plan;
  task: StoredTask;
  /** Of the stored schedule. */
  storedPlan: Pick<Plan, 'words' | 'cron'>;
  opened: OpenedForm;
  now: Date;
}

/** Both versions beside each other, with what differs. The form below still has everything that was typed. */
export function renderConflict({ typed, plan, task, storedPlan, opened, now }: Conflict): Html {
  const rows = findRows({ typed, plan }, { typed: typeTask(task, now), plan: storedPlan }, opened);
  const prompt = rows.find(({ label }) => label === 'Prompt');
  const differences = prompt && renderDifferences(prompt.stored, prompt.mine);
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
