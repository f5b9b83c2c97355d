import type { Texts } from '@carillon/texts';
import { type Html, html, raw } from '../../html.ts';

const SECTIONS = [
  { href: '/settings', name: 'profile' },
  { href: '/settings/notifications', name: 'notifications' },
  { href: '/settings/security', name: 'security' },
  { href: '/settings/ai-key', name: 'aiKey' },
  { href: '/settings/keys', name: 'keys' },
  { href: '/settings/secrets', name: 'secrets' },
  { href: '/settings/apps', name: 'apps' },
  { href: '/settings/data', name: 'data' },
] as const;

export type SectionPath = (typeof SECTIONS)[number]['href'];

export const listSettingsPages = ({ settings }: Texts) =>
  SECTIONS.map(({ href, name }) => ({ href, text: settings.sections[name] }));

/** The pages of the settings. */
export const renderSections = ({ settings }: Texts, current: SectionPath): Html =>
  html`<nav class="tabs" aria-label="${settings.title}"><ul>${SECTIONS.map(
    ({ href, name }) =>
      html`<li><a href="${href}"${href === current && raw(' aria-current="page"')}>${settings.sections[name]}</a></li>`,
  )}</ul></nav>`;
