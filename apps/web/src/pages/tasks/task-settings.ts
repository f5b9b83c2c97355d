import { currentTimeZone } from '@carillon/contract/validation/formats';
import type { TaskView } from '../../actions.ts';
import { renderChannels } from '../../components/channel-choices.ts';
import { describeSettings } from '../../components/task-settings.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

export function renderSettings(
  context: UserPageContext,
  { task, attachments, channels, feedCreatedAt }: TaskView,
): Html {
  const { texts } = context;
  const { tasks, formats, forms, taskForm } = texts;
  const { aiModel, maxTokens, temperature, timezone, recurrencePattern, webhookUrl, notificationEmail, createdAt } =
    task;
  return html`<section class="gap" aria-labelledby="settings">
<div class="head"><h2 id="settings">${tasks.settings}</h2><a href="/tasks/${task.id}/edit">${forms.edit}</a></div>
<dl class="facts">
<dt>${taskForm.fields.aiModel}</dt><dd>${aiModel}</dd>
<dt>${taskForm.fields.maxTokens}</dt><dd>${tasks.tokens(maxTokens)}</dd>
<dt>${taskForm.fields.temperature}</dt><dd>${(temperature / 100).toFixed(2)}</dd>
${describeSettings({ ...task, channels: [] }, context).map(({ label, words }) => html`<dt>${label}</dt><dd>${words}</dd>`)}
${recurrencePattern !== null && html`<dt>${taskForm.cron}</dt><dd><code>${recurrencePattern}</code></dd>`}
<dt>${taskForm.fields.timezone}</dt><dd>${currentTimeZone(timezone)}</dd>
${
  attachments.length > 0 &&
  html`<dt>${taskForm.fields.files}</dt><dd>${attachments.map(({ name, size }) => html`<div>${name}, ${formats.bytes(size)}</div>`)}</dd>`
}
${webhookUrl !== null && html`<dt>${tasks.webhook}</dt><dd>${webhookUrl}</dd>`}
${channels.length > 0 && html`<dt>${taskForm.fields.channels}</dt><dd>${renderChannels(texts, channels)}</dd>`}
${notificationEmail !== null && html`<dt>${tasks.mailTo}</dt><dd>${notificationEmail}</dd>`}
<dt>${tasks.feed}</dt><dd>${renderFeed(context, task.id, feedCreatedAt)}</dd>
<dt>${tasks.created}</dt><dd>${formats.day(new Date(createdAt), context)}</dd>
</dl>
</section>`;
}

/** Whether the task has a feed, and the buttons to change that. */
function renderFeed({ csrfField, texts, ...clock }: UserPageContext, id: number, createdAt: string | null): Html {
  const { feeds, formats } = texts;
  if (createdAt === null) {
    return html`<form class="do" method="post" action="/tasks/${id}/feed">${csrfField}<span>${feeds.none}</span><button class="plain">${feeds.create}</button></form>`;
  }
  return html`<form class="do" method="post" action="/tasks/${id}/feed">${csrfField}<span>${feeds.since(formats.day(new Date(createdAt), clock))}</span><button class="plain">${feeds.replace}</button><button class="plain danger" formaction="/tasks/${id}/feed/end">${feeds.end}</button></form>`;
}
