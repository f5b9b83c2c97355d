import type { Texts } from '@carillon/texts';
import { type Html, html } from '../html.ts';

/** A button that copies the element with this id. A page with it names the script `copy`, which shows it. */
export const renderCopyButton = (id: string, { forms }: Texts, label: string = forms.copy): Html =>
  html`<button type="button" class="copy" data-copy="${id}" data-done="${forms.isCopied}">${label}<span role="status"></span></button>`;
