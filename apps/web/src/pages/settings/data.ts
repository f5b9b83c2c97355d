import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderFeed } from './feed-pages.ts';
import type { Settings } from './setting.ts';
import { TASK_FILES } from './task-files.ts';

/** Where answers and data leave the account, and where it ends. */
export function renderData(context: UserPageContext, { feedCreatedAt }: Settings): Html {
  const { dashboard, viewer, texts } = context;
  const { settings, taskFiles } = texts;
  return html`<section class="setting" aria-labelledby="feed-title">
<div><h2 id="feed-title">${settings.feed}</h2><p class="hint">${settings.feedHint}</p></div>
<div class="panel gap">${renderFeed(context, feedCreatedAt)}</div>
</section>
<section class="setting" aria-labelledby="inbound-title">
<div><h2 id="inbound-title">${settings.inbound}</h2><p class="hint">${settings.inboundHint}</p></div>
<div class="panel gap"><pre><code>POST ${dashboard.appUrl}/api/webhooks/${viewer.id}/<b>SECRET</b></code></pre>
<p>${settings.inboundSecret((text) => html`<a href="/webhooks">${text}</a>`)}</p></div>
</section>
<section class="setting" aria-labelledby="files-title">
<div><h2 id="files-title">${taskFiles.setting}</h2><p class="hint">${taskFiles.settingHint}</p></div>
<div><a class="button" href="${TASK_FILES}">${taskFiles.title}…</a></div>
</section>
<section class="setting" aria-labelledby="export-title">
<div><h2 id="export-title">${settings.export}</h2><p class="hint">${settings.exportHint}</p></div>
<div><a class="button" href="/settings/export">${settings.exportTitle}…</a></div>
</section>
<section class="setting" aria-labelledby="deletion-title">
<div><h2 id="deletion-title">${settings.deletion}</h2><p class="hint">${settings.deletionHint}</p></div>
<div><a class="button danger" href="/settings/delete">${settings.deletion}…</a></div>
</section>`;
}
