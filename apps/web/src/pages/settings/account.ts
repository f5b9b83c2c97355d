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
  const settings = unwrap(await context.actions.getSettings(context.session, {}));
  return {
    title: 'Settings',
    subtitle: 'Your account, and this browser.',
    body: html`${renderSections('/settings')}
<div class="settings">${SETTINGS.map((setting) => show(setting, context, settings, refused))}
${renderFeedSection(context, settings)}
${renderInbound(context)}
${renderExport()}
${renderDeletion()}</div>`,
  };
}

const renderInbound = ({
  dashboard,
  viewer,
}: UserPageContext) => html`<section class="setting" aria-labelledby="inbound-title">
<div><h2 id="inbound-title">Inbound address</h2><p class="hint">Other systems start your tasks by a signed POST.</p></div>
<div class="panel gap"><pre><code>POST ${dashboard.appUrl}/api/webhooks/${viewer.id}/<b>SECRET</b></code></pre>
<p>SECRET is the secret of one of <a href="/webhooks">your webhooks</a>, and also signs the request. Each webhook has an address of its own.</p></div>
</section>`;

const renderFeedSection = (
  context: UserPageContext,
  { feedCreatedAt }: Settings,
) => html`<section class="setting" aria-labelledby="feed-title">
<div><h2 id="feed-title">Feed</h2><p class="hint">The answers of all tasks as an Atom feed. A task has a feed of its own on its page.</p></div>
<div class="panel gap">${renderFeed(context, { owner: '/settings', createdAt: feedCreatedAt })}</div>
</section>`;

const renderExport = () => html`<section class="setting" aria-labelledby="export-title">
<div><h2 id="export-title">Export</h2><p class="hint">What Carillon has stored about you, in one file.</p></div>
<div><a class="button" href="/settings/export">Export account…</a></div>
</section>`;

const renderDeletion = () => html`<section class="setting" aria-labelledby="deletion-title">
<div><h2 id="deletion-title">Delete the account</h2><p class="hint">With its tasks, runs, files and keys, at once and for good.</p></div>
<div><a class="button danger" href="/settings/delete">Delete account…</a></div>
</section>`;

export const showSettings = (context: UserPageContext): Promise<Page> => renderSettings(context, null);

/** Saves the setting that the form names. */
export async function saveSetting(context: UserPageContext): Promise<Page | Redirect> {
  const form = readForm(context.request);
  const setting = ALL.find(({ name }) => name === form.text('setting'));
  if (!setting) return renderSettings(context, null);
  const result = await setting.save(context, form);
  if (result.success) return redirect('/settings#main', setting.done(context.texts));
  const page = await renderSettings(context, {
    setting: setting.name,
    form,
    errors: toFormErrors(result, context.texts),
  });
  return { ...page, status: toStatus(result) };
}
