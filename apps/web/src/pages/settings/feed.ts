import { formatDay } from '../../components/format.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

interface FeedState {
  /** Of the pages: `/tasks/7` or `/settings`. */
  owner: string;
  /** When its address was made; null without a feed. */
  createdAt: string | null;
}

/** Whether there is a feed, with what can be done about it. */
export function renderFeed({ csrfField, timeZone, now }: UserPageContext, { owner, createdAt }: FeedState): Html {
  const says =
    createdAt === null
      ? 'The newest 50 answers, for a feed reader. Anyone with the address can read them.'
      : `On since ${formatDay(new Date(createdAt), timeZone, now)}. Its address was shown once: another one ends it.`;
  return html`<p>${says}</p>
<form class="do" method="post" action="${owner}/feed">${csrfField}<button>${createdAt === null ? 'Create feed' : 'Replace feed address'}</button>${
    createdAt === null ? EMPTY : html`<button class="danger" formaction="${owner}/feed/end">End feed</button>`
  }</form>`;
}
