import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

interface FeedState {
  /** Of the pages: `/tasks/7` or `/settings`. */
  owner: string;
  /** When its address was made; null without a feed. */
  createdAt: string | null;
}

/** Whether there is a feed, with what can be done about it. */
export function renderFeed(context: UserPageContext, { owner, createdAt }: FeedState): Html {
  const { formats, feeds } = context.texts;
  const text = createdAt === null ? feeds.off : feeds.onSince(formats.day(new Date(createdAt), context));
  return html`<p>${text}</p>
<form class="do" method="post" action="${owner}/feed">${context.csrfField}<button>${createdAt === null ? feeds.create : feeds.replace}</button>${
    createdAt === null ? EMPTY : html`<button class="danger" formaction="${owner}/feed/end">${feeds.end}</button>`
  }</form>`;
}
