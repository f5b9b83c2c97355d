import { toFormErrors, toStatus } from '../../components/fields.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { aiKey } from './ai-key.ts';
import { coupon } from './coupon.ts';
import { renderData } from './data.ts';
import { email } from './email.ts';
import { notifications } from './notifications.ts';
import { firstPassword, password } from './password.ts';
import { profile } from './profile.ts';
import { renderSecondFactorSetting } from './second-factor/list.ts';
import { renderSections, type SectionPath } from './sections.ts';
import { renderSessions } from './sessions.ts';
import { type Refused, type Setting, type Settings, show } from './setting.ts';

const renderSecurity = async (context: UserPageContext): Promise<Html> =>
  html`${await renderSecondFactorSetting(context)}${await renderSessions(context)}`;

interface Tab {
  /** Shown in this order, unless a setting is not offered. */
  settings: readonly Setting[];
  /** What its forms may save besides. */
  others?: readonly Pick<Setting, 'name' | 'save' | 'done'>[];
  /** What follows the settings. */
  renderMore?(context: UserPageContext, settings: Settings): Promise<Html> | Html;
}

/** The tabs of the settings, by their address. */
const TABS: Partial<Record<SectionPath, Tab>> = {
  '/settings': { settings: [profile, coupon] },
  '/settings/notifications': { settings: [notifications] },
  '/settings/security': { settings: [email, password], others: [firstPassword], renderMore: renderSecurity },
  '/settings/ai-key': { settings: [aiKey] },
  '/settings/data': { settings: [], renderMore: renderData },
};

/** The address and the handlers of each tab: one shows it, the other saves the setting that the form names. */
export const SETTING_TABS = Object.entries(TABS).map(([path, tab]) => ({
  path,
  show: (context: UserPageContext) => renderTab(context, path as SectionPath, tab, null),
  save: (context: UserPageContext) => saveSetting(context, path as SectionPath, tab),
}));

async function renderTab(
  context: UserPageContext,
  path: SectionPath,
  tab: Tab,
  refused: Refused | null,
): Promise<Page> {
  const { texts } = context;
  const settings = unwrap(await context.actions.getSettings(context.session, {}));
  const offered = tab.settings.filter(({ isOffered }) => isOffered?.(settings, context) ?? true);
  return {
    title: texts.settings.title,
    subtitle: texts.settings.subtitle,
    body: html`${renderSections(texts, path)}
<div class="settings">${offered.map((setting) => show(setting, { context, path, settings, refused }))}
${(await tab.renderMore?.(context, settings)) ?? EMPTY}</div>`,
  };
}

async function saveSetting(context: UserPageContext, path: SectionPath, tab: Tab): Promise<Page | Redirect> {
  const form = readForm(context.request);
  const all = [...tab.settings, ...(tab.others ?? [])];
  const setting = all.find(({ name }) => name === form.text('setting'));
  if (!setting) return renderTab(context, path, tab, null);
  const result = await setting.save(context, form);
  if (result.success) return redirect(`${path}#main`, setting.done(context.texts, form));
  const refused = { setting: setting.name, form, errors: toFormErrors(result, context.texts) };
  return { ...(await renderTab(context, path, tab, refused)), status: toStatus(result) };
}
