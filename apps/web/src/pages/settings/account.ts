import type { Texts } from '@carillon/texts';
import { toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { aiKey } from './ai-key.ts';
import { coupon } from './coupon.ts';
import { email } from './email.ts';
import { renderFeed } from './feed.ts';
import { language } from './language.ts';
import { notifications } from './notifications.ts';
import { firstPassword, password } from './password.ts';
import { profile } from './profile.ts';
import { renderSections } from './sections.ts';
import { type Refused, type Setting, type Settings, show } from './setting.ts';
import { theme } from './theme.ts';

const SETTINGS: readonly Setting[] = [profile, language, theme, notifications, aiKey, email, password, coupon];
const ALL = [...SETTINGS, firstPassword];

async function renderSettings(context: UserPageContext, refused: Refused | null): Promise<Page> {
  const { texts } = context;
  const settings = unwrap(await context.actions.getSettings(context.session, {}));
  return {
    title: texts.settings.title,
    subtitle: texts.settings.subtitle,
    body: html`${renderSections(texts, '/settings')}
<div class="settings">${SETTINGS.map((setting) => show(setting, context, settings, refused))}
${renderFeedSection(context, settings)}
${renderInbound(context)}
${renderExport(texts)}
${renderDeletion(texts)}</div>`,
  };
}

const renderInbound = ({
  dashboard,
  viewer,
  texts: { settings },
}: UserPageContext) => html`<section class="setting" aria-labelledby="inbound-title">
<div><h2 id="inbound-title">${settings.inbound}</h2><p class="hint">${settings.inboundHint}</p></div>
<div class="panel gap"><pre><code>POST ${dashboard.appUrl}/api/webhooks/${viewer.id}/<b>SECRET</b></code></pre>
<p>${settings.inboundSecret((text) => html`<a href="/webhooks">${text}</a>`)}</p></div>
</section>`;

const renderFeedSection = (
  context: UserPageContext,
  { feedCreatedAt }: Settings,
) => html`<section class="setting" aria-labelledby="feed-title">
<div><h2 id="feed-title">${context.texts.settings.feed}</h2><p class="hint">${context.texts.settings.feedHint}</p></div>
<div class="panel gap">${renderFeed(context, { owner: '/settings', createdAt: feedCreatedAt })}</div>
</section>`;

const renderExport = ({ settings }: Texts) => html`<section class="setting" aria-labelledby="export-title">
<div><h2 id="export-title">${settings.export}</h2><p class="hint">${settings.exportHint}</p></div>
<div><a class="button" href="/settings/export">${settings.exportTitle}…</a></div>
</section>`;

const renderDeletion = ({ settings }: Texts) => html`<section class="setting" aria-labelledby="deletion-title">
<div><h2 id="deletion-title">${settings.deletion}</h2><p class="hint">${settings.deletionHint}</p></div>
<div><a class="button danger" href="/settings/delete">${settings.deletion}…</a></div>
</section>`;

export const showSettings = (context: UserPageContext): Promise<Page> => renderSettings(context, null);

/** Saves the setting that the form names. */
export async function saveSetting(context: UserPageContext): Promise<Page | Redirect> {
  const form = readForm(context.request);
  const setting = ALL.find(({ name }) => name === form.text('setting'));
  if (!setting) return renderSettings(context, null);
  const result = await setting.save(context, form);
  if (result.success) return redirect('/settings#main', setting.done(context.texts, form));
  const page = await renderSettings(context, {
    setting: setting.name,
    form,
    errors: toFormErrors(result, context.texts),
  });
  return { ...page, status: toStatus(result) };
}
