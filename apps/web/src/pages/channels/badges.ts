import type { ChannelKind } from '@carillon/contract/channels/channels';
import { type Html, raw } from '../../html.ts';

/** In a box of 24 × 24, drawn as lines: what a kind is, not the logo of anybody. */
const DRAWINGS: Record<ChannelKind, string> = {
  slack: '<path d="M9.5 5 8 19M16 5l-1.5 14M5.5 9.5h13.5M5 14.5h13.5"/>',
  mattermost:
    '<path d="M12 5c4.4 0 7.5 2.7 7.5 6.2s-3.1 6.3-7.5 6.3q-1.1 0-2.2-.2L5.5 19.5l.9-3.9A5.7 5.7 0 0 1 4.5 11.2C4.5 7.7 7.6 5 12 5z"/>',
  teams:
    '<path d="M5 6h9v9H5zM7.5 8.5h4M9.5 8.5v4.3M16.5 10H20v5.5a3.5 3.5 0 0 1-6.4 2"/><circle cx="18" cy="6.5" r="1.6"/>',
  discord:
    '<path d="M8.5 6.5 6.3 7.4Q4.5 11 4.7 15.5q1.7 1.6 4 2l.9-1.6M15.5 6.5l2.2.9q1.8 3.6 1.6 8.1-1.7 1.6-4 2l-.9-1.6M8 15.5q4 1.4 8 0M8.5 7q3.5-1 7 0"/><circle cx="9.5" cy="12" r=".9"/><circle cx="14.5" cy="12" r=".9"/>',
  telegram: '<path d="m4.5 11.5 15-6-2.5 13-5-3.7L9.7 17v-4.2L19 6"/>',
  ntfy: '<path d="M6.5 16V11a5.5 5.5 0 0 1 11 0v5l1.5 1.5H5zM10.5 20h3"/>',
  apprise: '<path d="M5 12h5M10 12l4-5.5h5M10 12h9M10 12l4 5.5h5"/>',
  email: '<path d="M4.5 6.5h15v11h-15zM5 7l7 6 7-6"/>',
};

/** The sign of a kind, next to its name. */
export const renderMark = (kind: ChannelKind): Html =>
  raw(`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true">${DRAWINGS[kind]}</svg>`);
