import { type Html, html, raw } from '../../html.ts';

const SECTIONS = [
  { href: '/admin', text: 'Overview' },
  { href: '/admin/users', text: 'Users' },
  { href: '/admin/coupons', text: 'Coupons' },
  { href: '/admin/settings', text: 'Settings' },
  { href: '/admin/audit', text: 'Audit log' },
] as const;

/** The pages of the administration. */
export const renderSections = (current: (typeof SECTIONS)[number]['href']): Html =>
  html`<nav class="tabs" aria-label="Administration"><ul>${SECTIONS.map(
    ({ href, text }) => html`<li><a href="${href}"${href === current && raw(' aria-current="page"')}>${text}</a></li>`,
  )}</ul></nav>`;
