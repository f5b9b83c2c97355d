import type { Texts } from '@carillon/texts';
import { type Html, html, raw } from '../html.ts';

/** The outcome of a planned run, or the state of something, as the signs show it. */
export type RunOutcome =
  | 'ran'
  | 'changed'
  | 'late'
  | 'running'
  | 'waiting'
  | 'paused'
  | 'skipped'
  | 'skipped-by-user'
  | 'failed'
  | 'missed'
  | 'quota'
  | 'cancelled'
  | 'unchanged';

interface Shape {
  /** The class of the colour. */
  color: string;
  /** In a box of 12 × 12, with the line that it stands on, hangs from, or crosses. */
  glyph: string;
  /** In a cell of 8 × 28, whose line is at 17.5. Null for what the strip does not show. */
  cell: string | null;
}

const ON = '<path class="rod" d="M0 11.5h12"/>';
const BELOW = '<path class="rod" d="M0 .5h12"/>';
const ACROSS = '<path class="rod" d="M0 6h12"/>';

const SHAPES: Record<RunOutcome, Shape> = {
  ran: {
    color: 'ran',
    glyph: `${ON}<rect x="4" y="1" width="4" height="9" rx="1.5"/>`,
    cell: '<rect x="1.5" y="2" width="5" height="14" rx="1.5"/>',
  },
  changed: {
    color: 'changed',
    glyph: `${ON}<rect x="4" y="5.5" width="4" height="4.5" rx="1.25"/><circle cx="6" cy="2" r="2"/>`,
    cell: '<rect x="1.5" y="7" width="5" height="9" rx="1.5"/><circle cx="4" cy="3.25" r="2.25"/>',
  },
  late: {
    color: 'late',
    glyph: `${ON}<rect x="4" y="6" width="4" height="4" rx="1.25"/><path d="M5.25 0h1.5v6h-1.5z"/>`,
    cell: '<rect x="1.5" y="9" width="5" height="7" rx="1.5"/><path d="M3.25 2h1.5v8h-1.5z"/>',
  },
  running: {
    color: 'running',
    glyph: `${ON}<rect class="hollow" x="4" y="1" width="4" height="9" rx="1.5"/>`,
    cell: '<rect class="hollow" x="1.5" y="2" width="5" height="14" rx="1.5"/>',
  },
  waiting: {
    color: 'waiting',
    glyph: `${ON}<circle class="hollow" cx="6" cy="6.5" r="2.25"/>`,
    cell: null,
  },
  paused: {
    color: 'paused',
    glyph: `${ON}<rect x="2.5" y="4" width="2.5" height="6"/><rect x="7" y="4" width="2.5" height="6"/>`,
    cell: null,
  },
  skipped: {
    color: 'skipped',
    glyph: `${ACROSS}<rect x="2.5" y="4" width="7" height="4" rx="1"/>`,
    cell: '<rect x="1" y="15.75" width="6" height="3.5" rx="1"/>',
  },
  'skipped-by-user': {
    color: 'skipped',
    glyph: `${ACROSS}<rect class="hollow" x="2.5" y="4" width="7" height="4" rx="1"/>`,
    cell: '<rect class="hollow" x="1" y="15.75" width="6" height="3.5" rx="1"/>',
  },
  failed: {
    color: 'failed',
    glyph: `${BELOW}<path d="M4 2h4v4l-4-1zM4 6.5l4 1V11H4z"/>`,
    cell: '<path d="M1.5 19h5v4l-5-1.25zM1.5 23.25l5 1.25V27.5h-5z"/>',
  },
  missed: {
    color: 'missed',
    glyph: `${BELOW}<circle class="hollow" cx="6" cy="7" r="3.25"/>`,
    cell: '<circle class="hollow" cx="4" cy="23" r="2.6"/>',
  },
  unchanged: {
    color: 'skipped',
    glyph: `${ON}<rect x="3" y="7.5" width="6" height="2.5" rx="1"/>`,
    cell: '<rect x="1.5" y="13.5" width="5" height="2.5" rx="1"/>',
  },
  quota: {
    color: 'quota',
    glyph: `${BELOW}<path d="M1.5 3h9L6 11.5z"/>`,
    cell: '<path d="M.5 19.5h7L4 27z"/>',
  },
  cancelled: {
    color: 'skipped',
    glyph: `${BELOW}<rect class="hollow" x="3" y="3" width="6" height="6" rx="1"/>`,
    cell: '<rect class="hollow" x="1.75" y="20.5" width="4.5" height="4.5" rx="1"/>',
  },
};

/** The sign next to a word that says the same. */
export const renderIcon = (outcome: RunOutcome): Html => {
  const { color, glyph } = SHAPES[outcome];
  return raw(`<svg class="glyph ${color}" viewBox="0 0 12 12" aria-hidden="true">${glyph}</svg>`);
};

/** A sign with its word, such as `Failed`. */
export const renderOutcome = (outcome: RunOutcome, text: string): Html =>
  html`<span class="outcome ${SHAPES[outcome].color}">${renderIcon(outcome)}${text}</span>`;

const CELLS = 30;
const CELL_WIDTH = 8;
const NO_RUN = '<g class="none"><circle cx="4" cy="17.5" r="1"/></g>';

const renderCells = (content: string) =>
  Array.from({ length: CELLS }, (_, at) => `<g transform="translate(${at * CELL_WIDTH})">${content}</g>`);

/** Made once, because a list of tasks shows hundreds. */
const BLANKS = renderCells(NO_RUN);
const CELLS_OF = Object.fromEntries(
  Object.entries(SHAPES).map(([outcome, { color, cell }]) => [
    outcome,
    renderCells(`<g class="${color}">${cell ?? ''}</g>`),
  ]),
) as Record<RunOutcome, string[]>;

/** `26 on time, 1 failed` */
export function countOutcomes(outcomes: readonly RunOutcome[], texts: Texts): string {
  const counts = new Map<RunOutcome, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return (Object.keys(SHAPES) as RunOutcome[])
    .filter((outcome) => counts.has(outcome))
    .map((outcome) => `${counts.get(outcome)} ${texts.outcomes.signs[outcome]}`)
    .join(', ');
}

/** The last 30 planned runs of a task, oldest first, as a picture of one line. Fewer stand at the right. */
export const renderStrip = (outcomes: readonly RunOutcome[], texts: Texts): Html => {
  const { noPlannedRun, strip } = texts.outcomes;
  const shown = outcomes.slice(-CELLS);
  return renderStripOf(shown, shown.length === 0 ? noPlannedRun : strip(shown.length, countOutcomes(shown, texts)));
};

/** The same of something else, with its words in `name`. */
export function renderStripOf(outcomes: readonly RunOutcome[], name: string): Html {
  const shown = outcomes.slice(-CELLS);
  const first = CELLS - shown.length;
  const blanks = BLANKS.slice(0, first);
  const cells = shown.map((outcome, at) => CELLS_OF[outcome][first + at]);
  return html`<svg class="strip" viewBox="0 0 240 28" role="img" aria-label="${name}">${raw(
    `<path class="rod" d="M0 17.5h240"/>${blanks.join('')}${cells.join('')}`,
  )}</svg>`;
}

interface Cell {
  outcome: RunOutcome;
  /** Such as `Mon 23 Feb: ran`. */
  title: string;
  href: string;
}

/**
 * The same with links, as wide as the page. The Tab key leads to the newest one only: 30 stops would be in the way. A script
 * moves from it with the arrow keys.
 */
export function renderTallStrip(cells: readonly Cell[], labelledBy: string): Html {
  const shown = cells.slice(-CELLS);
  const first = CELLS - shown.length;
  const share = 100 / CELLS;
  return html`<svg class="strip tall" role="toolbar" aria-labelledby="${labelledBy}"><line class="rod" x1="0" x2="100%" y1="37.5" y2="37.5"/>${shown.map(
    ({ outcome, title, href }, at) =>
      html`<svg class="${SHAPES[outcome].color}" x="${((first + at) * share).toFixed(2)}%" width="${share.toFixed(2)}%" height="60" viewBox="0 0 8 28" overflow="visible"><a href="${href}" aria-label="${title}"${at < shown.length - 1 && raw(' tabindex="-1"')}><title>${title}</title><rect class="target" x="-4" width="16" height="28"/>${raw(SHAPES[outcome].cell ?? '')}</a></svg>`,
  )}</svg>`;
}

/** What the signs mean. */
export const renderKey = (outcomes: readonly RunOutcome[], texts: Texts): Html =>
  html`<ul class="key" id="key" aria-label="${texts.outcomes.key}">${outcomes.map(
    (outcome) => html`<li>${renderOutcome(outcome, texts.outcomes.signs[outcome])}</li>`,
  )}</ul>`;
