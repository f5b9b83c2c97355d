import { getTexts } from '@carillon/texts';
import { html as hono, raw } from 'hono/html';
import type { ChannelMessage } from '../message.ts';

const SANS = "-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const CODE = "ui-monospace,Menlo,Consolas,'Liberation Mono',monospace";

/** Colors in light and in dark. Mail programs that ignore the style sheet show the light ones, which are inline. */
const COLORS = {
  page: ['#f3f5f4', '#0e1413'],
  surface: ['#ffffff', '#151d1b'],
  sunk: ['#e9eeec', '#1d2725'],
  ink: ['#14201d', '#e7eeeb'],
  muted: ['#50605b', '#9fb1ab'],
  line: ['#d6dedb', '#2b3835'],
  accent: ['#0a675b', '#5ecbb6'],
  accentWash: ['#dff0ec', '#14322d'],
  late: ['#7d4e00', '#e6b450'],
  lateWash: ['#fbeed2', '#3a2d12'],
  fail: ['#b0301a', '#ff8d70'],
  failWash: ['#fae8e3', '#331d18'],
  onAccent: ['#ffffff', '#06231e'],
} as const;
type Color = keyof typeof COLORS;

interface Style {
  ink?: Color;
  ground?: Color;
  line?: Color;
  /** Further declarations. */
  css?: string;
}

const FINE = 'font-size:13px;line-height:1.5;';
const CELL = 'padding:7px 10px;text-align:left;vertical-align:top;border-width:0 0 1px;border-style:solid;';
const LABEL =
  'display:inline-block;padding:2px 9px;border-radius:999px;font-size:12px;font-weight:600;line-height:1.6;';
const BLOCK = `font:13px/1.55 ${CODE};white-space:pre-wrap;`;

const STYLES = {
  page: { ground: 'page', ink: 'ink', css: `margin:0;padding:0;font:15px/1.55 ${SANS};overflow-wrap:anywhere;` },
  ground: { ground: 'page', css: 'padding:24px 12px;' },
  card: {
    ground: 'surface',
    ink: 'ink',
    line: 'line',
    css: `max-width:640px;border-width:1px;border-style:solid;border-radius:10px;font:15px/1.55 ${SANS};`,
  },
  brand: { ink: 'accent', css: 'padding:22px 28px 0;font-size:15px;font-weight:700;letter-spacing:-.01em;' },
  main: { css: 'padding:10px 28px 28px;' },
  title: { ink: 'ink', css: 'margin:8px 0 2px;font-size:22px;line-height:1.3;font-weight:650;letter-spacing:-.01em;' },
  itemTitle: { ink: 'ink', css: 'margin:8px 0 2px;font-size:18px;line-height:1.35;font-weight:650;' },
  item: { line: 'line', css: 'margin-top:28px;padding-top:22px;border-width:1px 0 0;border-style:solid;' },
  fine: { ink: 'muted', css: `margin:0;${FINE}` },
  section: {
    ink: 'muted',
    css: 'margin:22px 0 8px;font-size:12px;line-height:1.5;font-weight:650;letter-spacing:.04em;text-transform:uppercase;',
  },
  note: {
    ground: 'sunk',
    ink: 'ink',
    css: 'margin:16px 0 0;padding:12px 14px;border-radius:6px;white-space:pre-wrap;',
  },
  noteFail: {
    ground: 'failWash',
    ink: 'fail',
    css: 'margin:16px 0 0;padding:12px 14px;border-radius:6px;white-space:pre-wrap;',
  },
  noteLate: {
    ground: 'lateWash',
    ink: 'late',
    css: 'margin:16px 0 0;padding:12px 14px;border-radius:6px;white-space:pre-wrap;',
  },
  labelGood: { ground: 'accentWash', ink: 'accent', css: LABEL },
  labelLate: { ground: 'lateWash', ink: 'late', css: LABEL },
  labelFail: { ground: 'failWash', ink: 'fail', css: LABEL },
  labelPlain: { ground: 'sunk', ink: 'muted', css: LABEL },
  button: {
    ground: 'accent',
    ink: 'onAccent',
    css: 'display:inline-block;margin-top:22px;padding:9px 18px;border-radius:6px;font-weight:600;text-decoration:none;',
  },
  link: { ink: 'accent' },
  table: { css: 'width:100%;margin:12px 0;border-collapse:collapse;font-size:14px;line-height:1.5;' },
  th: { ink: 'muted', line: 'line', css: `${CELL}font-size:12px;font-weight:600;` },
  td: { ink: 'ink', line: 'line', css: CELL },
  before: { ground: 'failWash', ink: 'fail', css: 'padding:0 3px;border-radius:3px;text-decoration:line-through;' },
  after: { ground: 'accentWash', ink: 'accent', css: 'padding:0 3px;border-radius:3px;text-decoration:none;' },
  code: { ground: 'sunk', css: `padding:1px 4px;border-radius:3px;font:13px/1.5 ${CODE};` },
  pre: { ground: 'sunk', ink: 'ink', css: `margin:12px 0;padding:12px 14px;border-radius:6px;${BLOCK}` },
  lineDelete: { ground: 'failWash', ink: 'fail', css: `padding:1px 12px;${BLOCK}text-decoration:none;` },
  lineInsert: { ground: 'accentWash', ink: 'accent', css: `padding:1px 12px;${BLOCK}text-decoration:none;` },
  lineEqual: { ink: 'muted', css: `padding:1px 12px;${BLOCK}` },
  lines: {
    line: 'line',
    css: 'margin:8px 0 0;padding:6px 0;border-width:1px;border-style:solid;border-radius:6px;overflow:hidden;',
  },
  quote: {
    ink: 'muted',
    line: 'line',
    css: 'margin:12px 0;padding:0 0 0 14px;border-width:0 0 0 3px;border-style:solid;',
  },
  rule: { line: 'line', css: 'margin:20px 0;border-width:1px 0 0;border-style:solid;' },
  heading: { ink: 'ink', css: 'margin:20px 0 6px;font-size:16px;line-height:1.35;font-weight:650;' },
  foot: { ink: 'muted', css: `max-width:640px;padding:18px 28px 8px;${FINE}` },
} as const satisfies Record<string, Style>;

type StyleName = keyof typeof STYLES;

/** The attributes of an element: its light look inline, and classes by which the style sheet makes it dark. */
export function look(name: StyleName, more = ''): Markup {
  const { ink, ground, line, css = '' }: Style = STYLES[name];
  const classes = [more, ground && `g-${ground}`, ink && `i-${ink}`, line && `l-${line}`].filter(Boolean).join(' ');
  const colors = [
    ground && `background:${COLORS[ground][0]};`,
    ink && `color:${COLORS[ink][0]};`,
    line && `border-color:${COLORS[line][0]};`,
  ];
  return markup`${classes && markup` class="${classes}"`} style="${css}${colors.filter(Boolean).join('')}"`;
}

const darken = (prefix: string, property: string) =>
  Object.entries(COLORS).map(([name, [, dark]]) => `.${prefix}-${name}{${property}:${dark}!important}`);

export const STYLE_SHEET = [
  ':root{color-scheme:light dark;supported-color-schemes:light dark}',
  'p,ul,ol{margin:10px 0}',
  'li ul,li ol{margin:2px 0}',
  '@media (max-width:480px){.pad{padding-left:18px!important;padding-right:18px!important}}',
  `@media (prefers-color-scheme:dark){${[...darken('g', 'background'), ...darken('i', 'color'), ...darken('l', 'border-color')].join('')}}`,
].join('\n');

const LEVEL_LOOKS = {
  success: { label: 'labelGood', note: 'note' },
  failure: { label: 'labelFail', note: 'noteFail' },
  alert: { label: 'labelLate', note: 'noteLate' },
  recovery: { label: 'labelGood', note: 'note' },
  notice: { label: 'labelPlain', note: 'note' },
} as const satisfies Record<ChannelMessage['level'], { label: StyleName; note: StyleName }>;

/** How a message is named and colored. */
export function describeLevel({ level, changes, items, reader }: ChannelMessage) {
  const texts = getTexts(reader.language).messages;
  const text = items.length > 0 ? texts.digest : changes.length > 0 ? texts.answerChanged : texts.levels[level];
  return { text, ...LEVEL_LOOKS[level] };
}

/** HTML. Any other value that is put into a template is escaped. */
export type Markup = ReturnType<typeof raw>;

type Value = Markup | string | number | false | null | readonly Value[];

/** Builds HTML from a template. `false` and `null` are left out, lists are joined. */
export const markup = (strings: TemplateStringsArray, ...values: Value[]): Markup => hono(strings, ...values) as Markup;

/** Marks text as HTML. Only for what this module has made. */
export const trusted = (text: string): Markup => raw(text);
