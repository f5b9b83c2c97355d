import { type Html, raw } from '../html.ts';

const WIDTH = 704;
const ROW_HEIGHT = 60;
/** What has happened is left of it, and drawn full. */
const NOW_AT = 432;

/** Schedules, one a row: the first run, the distance between runs and the height of a run, in pixels. */
const SCHEDULES = [
  [4, 80, 16],
  [4, 32, 20],
  [52, 112, 24],
  [4, 48, 28],
  [4, 64, 32],
  [4, 16, 36],
  [4, 96, 16],
  [20, 48, 20],
  [4, 32, 24],
  [36, 80, 28],
  [4, 160, 32],
  [36, 64, 36],
] as const;

function drawRow([first, distance, height]: (typeof SCHEDULES)[number], index: number): string {
  const y = ROW_HEIGHT * index + 50;
  const top = y - 3 - height;
  let past = '';
  let ahead = '';
  for (let x = first; x < WIDTH; x += distance) {
    if (x < NOW_AT) past += `M${x} ${top}h8v${height}h-8z`;
    else ahead += `M${x + 1} ${top + 1}h6v${height - 2}h-6z`;
  }
  return (
    `<path d="M0 ${y}.5h${WIDTH}" stroke="currentColor" opacity=".3"/><path d="${past}"/>` +
    `<path d="${ahead}" fill="none" stroke="currentColor" stroke-width="1.5" opacity=".55"/>`
  );
}

/** Runs of many tasks, before and after now. */
export const signInPicture: Html = raw(
  `<svg viewBox="0 0 ${WIDTH} 720" preserveAspectRatio="xMidYMid slice" aria-hidden="true" fill="currentColor">` +
    `${SCHEDULES.map(drawRow).join('')}<path class="now" d="M${NOW_AT} 0v720" stroke="#fff" opacity=".7" stroke-width="1.5"/></svg>`,
);
