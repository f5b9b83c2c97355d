import { type Html, html, raw } from '../../html.ts';

const SECTIONS = [
  { href: '/settings', text: 'Account' },
  { href: '/settings/sessions', text: 'Sessions' },
  { href: '/settings/keys', text: 'API keys' },
] as const;

/** The pages of the settings. */
export const renderSections = (current: (typeof SECTIONS)[number]['href']): Html =>
  html`<nav class="tabs" aria-label="Settings"><ul>${SECTIONS.map(
    ({ href, text }) => html`<li><a href="${href}"${href === current && raw(' aria-current="page"')}>${text}</a></li>`,
  )}</ul></nav>`;
