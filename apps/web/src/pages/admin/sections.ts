import type { Texts } from '@carillon/texts';
import { type Html, html, raw } from '../../html.ts';

const SECTIONS = [
  { href: '/admin', name: 'overview' },
  { href: '/admin/users', name: 'users' },
  { href: '/admin/coupons', name: 'coupons' },
  { href: '/admin/providers', name: 'providers' },
  { href: '/admin/apps', name: 'apps' },
  { href: '/admin/settings', name: 'settings' },
  { href: '/admin/audit', name: 'audit' },
] as const;

export const listAdminPages = ({ admin }: Texts) =>
  SECTIONS.map(({ href, name }) => ({ href, text: admin.sections[name] }));

/** The pages of the administration. */
export const renderSections = ({ admin }: Texts, current: (typeof SECTIONS)[number]['href']): Html =>
  html`<nav class="tabs" aria-label="${admin.title}"><ul>${SECTIONS.map(
    ({ href, name }) =>
      html`<li><a href="${href}"${href === current && raw(' aria-current="page"')}>${admin.sections[name]}</a></li>`,
  )}</ul></nav>`;
