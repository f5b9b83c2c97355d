import type { WebActionData } from '../../actions.ts';
import { renderDays } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

type Upcoming = WebActionData<'getOverview'>['upcoming'];

const HOUR_MS = 3_600_000;
const SLOT_MS = HOUR_MS / 2;
const SLOTS = 48;
const TICK_HOURS = 3;
const SHOWN_RUNS = 6;
/** A label beyond this share would leave the chart. */
const LAST_LABEL = 0.95;
const BAR_WIDTH = 0.013;

const BASE = 71;
const TOP = 14;
/** With fewer runs at once, each is a bar of this height. */
const UNIT = 20;

const percent = (share: number) => `${(share * 100).toFixed(2)}%`;

/** The full hours of the next day that can be divided by three in local time. */
function renderTicks(context: UserPageContext): Html[] {
  const {
    now,
    timeZone,
    texts: { formats },
  } = context;
  const first = Math.ceil(now.getTime() / SLOT_MS) * SLOT_MS;
  const instants = Array.from({ length: SLOTS }, (_, at) => new Date(first + at * SLOT_MS));
  return instants
    .map((at) => ({ at, time: formats.time(at, timeZone) }))
    .filter(({ time }) => time.endsWith(':00') && Number(time.slice(0, 2)) % TICK_HOURS === 0)
    .map(({ at, time }) => {
      const share = (at.getTime() - now.getTime()) / (SLOTS * SLOT_MS);
      const x = percent(share);
      const isMidnight = time === '00:00';
      const isMinor = Number(time.slice(0, 2)) % (2 * TICK_HOURS) !== 0;
      const text = isMidnight ? formats.day(at, context) : time;
      return html`<line class="rod" x1="${x}" x2="${x}" y1="${BASE}" y2="77"/><text class="${
        isMidnight ? 'strong' : isMinor ? 'tick minor' : 'tick'
      }" x="${x}" y="93" text-anchor="${share > LAST_LABEL ? 'end' : 'middle'}">${text}</text>`;
    });
}

/** A line of time with the planned runs, by half hour. */
export function renderDayAhead(context: UserPageContext, { slots, runs, refused }: Upcoming): Html {
  const most = Math.max(0, ...slots.map((slot) => slot.runs));
  const unit = Math.min(UNIT, (BASE - TOP) / Math.max(most, 1));
  const { home } = context.texts;
  const label = home.chart(runs, most, refused);
  return html`<figure><svg class="chart" height="98" role="img" aria-label="${label}">
<line class="grid" x1="0" x2="100%" y1="${BASE}" y2="${BASE}"/>
${slots.map(({ from, runs: count, refused: out }) => {
  const share = (new Date(from).getTime() - context.now.getTime()) / (SLOTS * SLOT_MS);
  // The last half hour is cut by the end of the day ahead.
  const width = Math.max(0, Math.min(BAR_WIDTH, 1 - share));
  const bar = (runs: number, below: number, kind: string) =>
    runs > 0 &&
    html`<rect class="bar${kind}" x="${percent(share)}" y="${(BASE - 2 - (below + runs) * unit).toFixed(1)}" width="${percent(width)}" height="${Math.max(1, runs * unit - 1).toFixed(1)}" rx="1.5"/>`;
  return html`<g><title>${home.slot(count - out, out)}</title>${bar(count - out, 0, '')}${bar(out, count - out, ' short')}</g>`;
})}
<line class="now" x1="0" x2="0" y1="2" y2="77"/><text class="strong" x="7" y="11">${home.now}</text>
${renderTicks(context)}
</svg></figure>`;
}

/** What the hollow bars mean. */
export const renderRefused = ({ texts: { home } }: UserPageContext, { refused }: Upcoming): Html =>
  html`<span class="skipped-runs">${home.refused(refused)}</span> ·`;

/** The next runs, one by one. */
export const renderUpNext = (context: UserPageContext, { next }: Upcoming): Html =>
  renderDays(
    next.slice(0, SHOWN_RUNS).map(({ at, taskId, taskName, refusedBy }) => ({
      at: new Date(at),
      outcome: null,
      content: html`<a href="/tasks/${taskId}">${taskName}</a>${refusedBy !== null && html` <span class="tag calm">${context.texts.home.refusals[refusedBy]}</span>`}`,
    })),
    context,
  );
