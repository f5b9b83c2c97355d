import { renderChannels } from '../../components/channel-choices.ts';
import { formatBytes, formatCount, formatDay } from '../../components/format.ts';
import { describeSettings } from '../../components/task-settings.ts';
import { type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { TaskView } from './task-view.ts';

export function renderSettings(context: UserPageContext, { task, attachments, channels, runs }: TaskView): Html {
  const { now, timeZone, texts } = context;
  const isNew = runs.length === 0;
  const { aiModel, maxTokens, temperature, timezone, recurrencePattern, webhookUrl, notificationEmail, createdAt } =
    task;
  return html`<section class="gap" aria-labelledby="settings">
<div class="head"><h2 id="settings">Settings</h2><a href="/tasks/${task.id}/edit">Edit</a></div>
<dl class="facts">
<dt>Model</dt><dd>${aiModel}</dd>
<dt>Up to</dt><dd>${formatCount(maxTokens)} tokens</dd>
<dt>Temperature</dt><dd>${(temperature / 100).toFixed(2)}</dd>
${describeSettings({ ...task, channels: [] }, context).map(({ label, words }) => html`<dt>${label}</dt><dd>${words}</dd>`)}
${recurrencePattern !== null && html`<dt>Cron</dt><dd><code>${recurrencePattern}</code></dd>`}
<dt>Time zone</dt><dd>${timezone}</dd>
${
  attachments.length > 0 &&
  html`<dt>Attachments</dt><dd>${attachments.map(({ name, size }) => html`<div>${name}, ${formatBytes(size)}</div>`)}</dd>`
}
${webhookUrl !== null && html`<dt>Webhook</dt><dd>${webhookUrl}</dd>`}
${channels.length > 0 && html`<dt>Channels</dt><dd>${renderChannels(texts, channels)}</dd>`}
${notificationEmail !== null && html`<dt>Mail to</dt><dd>${notificationEmail}</dd>`}
<dt>Made</dt><dd>${formatDay(new Date(createdAt), timeZone, now)}</dd>
</dl>
<details id="prompt" hx-morph-skip${isNew && raw(' open')}><summary>Prompt</summary><pre class="panel" tabindex="0">${task.prompt}</pre></details>
</section>`;
}
