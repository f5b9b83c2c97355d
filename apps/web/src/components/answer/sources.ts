import type { Citation } from '@carillon/contract/executions';
import type { Texts } from '@carillon/texts';
import { type Html, html } from '../../html.ts';

/** More are folded. */
const SHOWN = 10;

/** The host of an address of the web; null for any other address. */
function findHost(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, host } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? host : null;
}

/** Titles come from strangers: they are isolated, so that their direction of writing stays their own. */
function renderSource({ url, title }: Citation): Html {
  const host = findHost(url);
  if (host === null) return html`<li><bdi>${title}</bdi></li>`;
  return html`<li><a href="${url}" rel="noopener noreferrer nofollow"><bdi>${title}</bdi></a>${
    title !== host && html`<span class="sub">${host}</span>`
  }</li>`;
}

/** The pages that an answer cites, numbered in its order. */
export function renderSources(citations: readonly Citation[], { runs }: Texts): Html {
  const more = citations.slice(SHOWN);
  return html`<ol class="numbered sources">${citations.slice(0, SHOWN).map(renderSource)}</ol>${
    more.length > 0 &&
    html`<details class="after"><summary>${runs.moreSources(more.length)}</summary><ol class="numbered sources after" start="${SHOWN + 1}">${more.map(renderSource)}</ol></details>`
  }`;
}
