import type { Texts } from '@carillon/texts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

/** A notification or an alert, as the list of both shows it. */
export interface Entry {
  at: string;
  outcome: RunOutcome;
  title: string;
  tag: string | false;
  message: string;
  isRead: boolean;
  /** Below the message. */
  more?: Html | false;
  actions: readonly (Html | false)[];
}

/** What an alert or a notification of this kind tells. */
export const SIGNS: Record<string, RunOutcome> = {
  'usage.alert': 'quota',
  'quota.used_up': 'quota',
  'trial.ended': 'quota',
  'webhook.failed': 'failed',
  'channel.failed': 'failed',
  'task.failed': 'failed',
  'task.over_budget': 'quota',
  'task.overdue': 'missed',
  'task.failing': 'failed',
  'task.recovered': 'ran',
  'task.expensive': 'quota',
  'task.slow': 'late',
  'task.degraded': 'late',
  'alert.undelivered': 'failed',
  'scheduler.silent': 'failed',
  'scheduler.back': 'ran',
  'backup.old': 'failed',
};

/** A link to the thing itself, named by its kind. `name`: which one, for screen readers. */
export function renderLink({ notifications }: Texts, path: string, name: string): Html | false {
  const [, area = '', id] = path.split(/[/?#]/);
  const names: Readonly<Record<string, string>> = id === undefined ? notifications.seeAll : notifications.see;
  const text = names[area] ?? false;
  return text !== false && html`<a href="${path}">${text}<span class="vh">: ${name}</span></a>`;
}

function renderEntry({ timeZone, now, texts: { formats } }: UserPageContext, entry: Entry): Html {
  const { outcome, title, tag, message, isRead, more = false, actions } = entry;
  const at = new Date(entry.at);
  return html`<li${isRead && raw(' class="read"')}><time datetime="${at.toISOString()}" title="${formats.distance(at, now)}">${formats.time(at, timeZone)}</time><span class="node">${renderIcon(outcome)}</span>
<div><h3>${title}${tag !== false && html` <span class="tag">${tag}</span>`}</h3><p>${message}</p>${more}
<div class="do">${actions}</div></div></li>`;
}

/** By day, newest first. */
export function renderEntries(context: UserPageContext, entries: readonly Entry[]): Html {
  const { formats, lists } = context.texts;
  const days = Map.groupBy(entries, ({ at }) => formats.day(new Date(at), context));
  const today = formats.day(context.now, context);
  return html`${[...days].map(
    ([day, ofDay]) =>
      html`<section aria-label="${day}"><h2 class="head">${day === today ? lists.today : day}</h2>
<ol class="times notes">${ofDay.map((entry) => renderEntry(context, entry))}</ol></section>`,
  )}`;
}

/** All notifications, unread ones, and alerts with where they were sent. */
export function renderTabs({ notifications }: Texts, current: 'all' | 'unread' | 'alerts'): Html {
  const tab = (name: typeof current, href: string, text: string) =>
    html`<li><a href="${href}"${name === current && raw(' aria-current="page"')}>${text}</a></li>`;
  return html`<nav class="tabs" aria-label="${notifications.filter}"><ul>${tab('all', '/notifications', notifications.filterAll)}${tab(
    'unread',
    buildAddress('/notifications', { show: 'unread' }),
    notifications.filterUnread,
  )}${tab('alerts', '/alerts', notifications.filterAlerts)}</ul></nav>`;
}
