import { type Html, html } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import type { UserPageContext } from '../page.ts';

/** Of a search. */
export const MAX_CHARACTERS = 100;

/** The search over any other page, which a script opens. */
export const renderSearchDialog = ({ texts: { lists } }: UserPageContext): Html =>
  html`<dialog id="search-dialog" aria-label="${lists.searchTitle}"><form method="get" action="/search" role="search">
<input type="search" name="q" aria-label="${lists.searchLabel}" placeholder="${lists.searchLabel}" maxlength="${MAX_CHARACTERS}" autocomplete="off" hx-get="/search" hx-trigger="input changed delay:200ms" hx-select="#found" hx-target="#quick" hx-swap="innerHTML" hx-sync="this:replace">
</form><div id="quick"></div></dialog>
<script src="${ASSET_URLS.search}" type="module"></script>`;
