import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

/** Whether the account has a feed, with what can be done about it. `createdAt` is null without one. */
export function renderFeed({ csrfField, now, timeZone, texts }: UserPageContext, createdAt: string | null): Html {
  const { formats, feeds } = texts;
  const text = createdAt === null ? feeds.off : feeds.onSince(formats.day(new Date(createdAt), { now, timeZone }));
  return html`<p>${text}</p>
<form class="do" method="post" action="/settings/data/feed">${csrfField}<button>${createdAt === null ? feeds.create : feeds.replace}</button>${
    createdAt !== null && html`<button class="danger" formaction="/settings/data/feed/end">${feeds.end}</button>`
  }</form>`;
}
