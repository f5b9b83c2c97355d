import type { Texts } from '@carillon/texts';
import { type Html, html, raw } from '../../html.ts';

const SECTIONS = [
  { href: '/settings', name: 'account' },
  { href: '/settings/sessions', name: 'sessions' },
  { href: '/settings/keys', name: 'keys' },
] as const;

/** The pages of the settings. */
export const renderSections = ({ settings }: Texts, current: (typeof SECTIONS)[number]['href']): Html =>
  html`<nav class="tabs" aria-label="${settings.title}"><ul>${SECTIONS.map(
    ({ href, name }) =>
      html`<li><a href="${href}"${href === current && raw(' aria-current="page"')}>${settings.sections[name]}</a></li>`,
  )}</ul></nav>`;
