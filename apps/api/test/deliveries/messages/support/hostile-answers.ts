import type { ChannelMessage } from '../../../../src/product/deliveries/messages/message.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';

export interface HostileMessage {
  name: string;
  message: ChannelMessage;
}

/** What a kind's test knows about its target. */
export interface Target<Body> {
  /** Renders a message, or sends it to the test's server and returns what that received. */
  render(message: ChannelMessage): Body | Promise<Body>;
  /** The sizes that the target limits, in its unit, with its limits. */
  measure(body: Body): { what: string; size: number; limit: number }[];
  /** The mentions that the target would act on. */
  findMentions(body: Body): string[];
  /** The links that the target would show with a text of their own, and that text. */
  findLinks(body: Body): ShownLink[];
  /** Code blocks, tags and entities that are not closed, or anything else that the target would reject. */
  findBroken(body: Body): string[];
  /** Whether a text of the message may be in the body as it is, such as the settings of the channel. Default: none. */
  isOurs?(text: string): boolean;
}

export interface ShownLink {
  text: string;
  href: string;
}

interface Test {
  ok(value: unknown, message: string): unknown;
  same(value: unknown, expected: unknown, message: string): unknown;
}

export const RUN_URL = 'https://carillon.example/executions/7';
const AT = new Date('2026-11-20T10:00:00.000Z');
const TITLE = 'Daily report';
const LEVELS = ['success', 'failure', 'alert', 'recovery', 'notice'] as const;

const none = { text: null, markdown: null, citations: [], changes: [], items: [] } as const;
const reader = { language: 'en', timezone: null } as const;
const base = { ...none, reader, level: 'success', title: TITLE, at: AT } as const;

/** Messages with a hostile text in each place that users, models and receivers write. */
export const HOSTILE_MESSAGES: readonly HostileMessage[] = HOSTILE_TEXTS.flatMap(({ name, text }, at) => {
  const level = LEVELS[at % LEVELS.length] as (typeof LEVELS)[number];
  const isShort = text.length < 1000;
  const items = [1, 2, 3].map(
    (n): ChannelMessage => ({ ...base, title: text, markdown: text, url: `${RUN_URL}${n}`, level }),
  );
  const changes = [{ path: '', from: 'old', to: text }, { path: `a[0].${text}`, from: text }, { path: text }];
  const citations = [`https://evil.example/${text}`, text, `https://evil.example/?q=${text}#${text}`].flatMap((url) => [
    { url, title: text },
    { url, title: `bank.example ${text}` },
  ]);
  const build = (place: string, message: Partial<ChannelMessage>): HostileMessage => ({
    name: `${place}, ${name}`,
    message: { ...base, url: RUN_URL, level, ...message },
  });
  return [
    build('answer', { markdown: text }),
    build('error', { level: 'failure', text }),
    build('title', { title: text }),
    ...(isShort || at % 5 === 0 ? [build('changes', { markdown: text, changes })] : []),
    ...(isShort ? [build('sources', { markdown: 'An answer.', citations })] : []),
    ...(at % 6 === 0 ? [build('answer with sources', { markdown: text, citations })] : []),
    ...(isShort || at % 7 === 0 ? [build('digest', { level: 'notice', items })] : []),
  ];
});

/** Sends every hostile message, and asserts what holds for every target. */
export async function attack<Body>(t: Test, target: Target<Body>): Promise<void> {
  for (const { name, message } of HOSTILE_MESSAGES) {
    const problems = await findProblems(target, message).catch((error: unknown) => [String(error)]);
    if (problems.length > 0) t.same(problems, [], name);
  }
  t.ok(true, `${HOSTILE_MESSAGES.length} hostile messages were sent`);
}

/** Returns what is wrong with one message. */
export async function findProblems<Body>(target: Target<Body>, message: ChannelMessage): Promise<string[]> {
  const body = await target.render(message);
  const texts = listTexts(body).filter((text) => !target.isOurs?.(text));
  const show = (text: string) => JSON.stringify(text.slice(0, 80));
  return [
    ...texts.flatMap(findBadCharacters),
    ...target
      .measure(body)
      .filter(({ size, limit }) => size > limit)
      .map(({ what, size, limit }) => `${what} has ${size} of ${limit}`),
    ...target.findMentions(body).map((mention) => `mentions ${show(mention)}`),
    ...target
      .findLinks(body)
      .filter(isMasked)
      .map(({ text, href }) => `${show(text)} leads to ${show(href)}`),
    ...target.findBroken(body).map((what) => `broken: ${show(what)}`),
    ...(texts.some((text) => text.includes(message.url)) ? [] : ['there is no link to the run']),
  ];
}

/** Whether a link shows another host than it leads to, nothing at all, or leads to what is no address of the web. */
export function isMasked({ text, href }: ShownLink): boolean {
  if (text.replaceAll(/[\p{Default_Ignorable_Code_Point}\s]/gu, '') === '' || !URL.canParse(href)) return true;
  const { protocol, hostname: web, username, pathname } = new URL(href);
  const hostname = protocol === 'mailto:' ? pathname.replace(/^.*@/, '') : web;
  if (!['http:', 'https:', 'mailto:'].includes(protocol) || username !== '') return true;
  // An address that is its own text may have another one in its path.
  if (decodeSafely(text) === decodeSafely(href)) return false;
  const plain = text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/[\u2044\u2215\u29f8]/g, '/')
    .toLowerCase();
  const shown = plain.matchAll(/(?:[a-z][a-z+.-]*:\/\/|www\.)([^\s/?#|]+)|\b((?:[a-z0-9-]+\.)+example)\b/g);
  return [...shown].some(([, host, bare]) => {
    const name = (host ?? bare ?? '').replace(/^.*@/, '').replace(/:\d+$|[.,;:!)]+$/g, '');
    return name !== '' && name.replace(/^www\./, '') !== hostname.replace(/^www\./, '');
  });
}

/** Parsers show an address with its percent-encoding decoded. */
function decodeSafely(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** Every string of a JSON value, names included; of a text, itself. */
export function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Buffer.isBuffer(value)) return [new TextDecoder('utf-8', { fatal: true }).decode(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...listTexts(item)]);
}

function findBadCharacters(text: string): string[] {
  const found = (what: string, pattern: RegExp) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [`${what}: ${JSON.stringify(text.slice(Math.max(0, at - 10), at + 10))}`];
  };
  return [
    ...found('a lone surrogate', /\p{Surrogate}/u),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    ...found('a control character', /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/),
    ...found('an override of the direction', /[\u202a-\u202e\u2066-\u2069]/),
    ...found('half of an emoji', /\u200d(?!\p{Emoji})(?=[\s…]|$)/u),
  ];
}
