import { invalidField } from '../../../../errors.ts';
import { COMMONMARK, renderMarkdown } from '../format/markdown-text.ts';
import { describeLevel, describeStatus, fitMessage } from '../format/message-blocks.ts';
import { cleanLine, countBytes, cutText } from '../format/text.ts';
import type { Block } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import { postToTarget, readJson } from '../post.ts';
import type { ChannelSender } from '../sender.ts';

/** Below 4096: a message of that length becomes an attachment. */
const MAX_BYTES = 4000;
const MAX_TITLE_LENGTH = 200;
const DAILY_LIMITS = [42905, 42908];
const TOKEN = /^[\x21-\x7e]+$/;
/** Names of emoji, and priorities from 1 to 5. */
const STYLES: Record<ChannelMessage['level'], { tag: string; priority: number }> = {
  success: { tag: 'white_check_mark', priority: 3 },
  failure: { tag: 'x', priority: 4 },
  alert: { tag: 'bell', priority: 4 },
  recovery: { tag: 'white_check_mark', priority: 3 },
  notice: { tag: 'information_source', priority: 3 },
};

/** Push messages: https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfy: ChannelSender = {
  title: 'ntfy',
  fields: ['url', 'topic', 'token'],
  check(ctx, { url, topic, token }) {
    if (url === undefined) throw invalidField('url', 'is required');
    const problem = ctx.http.checkAddress(url);
    if (problem !== null) throw invalidField('url', problem);
    const { pathname, search, hash } = new URL(url);
    if (pathname + search + hash !== '/') throw invalidField('url', 'must be the server, without the topic');
    if (topic === undefined) throw invalidField('topic', 'is required');
    if (token !== undefined && !TOKEN.test(token)) throw invalidField('token', 'must not contain spaces');
  },
  show: ({ url = '', topic = '' }) => ({ shown: { url, topic }, url }),
  send(ctx, { url = '', topic = '', token }, { message, signal }) {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const body = buildNtfyRequest(message, topic);
    const secrets = token === undefined ? [] : [token];
    return postToTarget(ctx, { url, headers, body, secrets, signal }, (status, _, answered) => {
      const { code } = readJson(answered);
      const isDaily = status === 429 && DAILY_LIMITS.includes(code as number);
      return {
        error: describeRefusal(status, isDaily),
        // The counts of a day start again at midnight UTC, and there is no Retry-After.
        retryAfterMs: isDaily ? DAY_MS - (ctx.now().getTime() % DAY_MS) : undefined,
        isGone: status === 401 || status === 403,
      };
    });
  },
};

const DAY_MS = 24 * 60 * 60_000;

function describeRefusal(status: number, isDaily: boolean): string | null {
  if (status < 300) return null;
  if (status === 401) return 'the token is wrong or has expired';
  if (status === 403) return 'the token may not write to this topic, or one is needed';
  if (status === 429) return isDaily ? 'the messages of the day are used up' : 'too many messages';
  if (status === 507) return 'the topic needs a subscriber first';
  return `it refused the message with ${status}`;
}

/** The JSON that publishes a message. */
export function buildNtfyRequest(message: ChannelMessage, topic: string) {
  const { level, url } = message;
  const { tag, priority } = STYLES[level];
  const title = cutText(cleanLine(message.title) || describeLevel(message), MAX_TITLE_LENGTH);
  const build = (blocks: readonly Block[]) => {
    const text = renderMarkdown(blocks, COMMONMARK) || describeStatus(message);
    return { topic, title, message: text, priority, tags: [tag], click: url, markdown: true };
  };
  // The whole request may have twice the length of a message.
  const measure = (blocks: readonly Block[]) => {
    const request = build(blocks);
    return Math.max(countBytes(request.message), countBytes(JSON.stringify(request)) / 2);
  };
  return build(fitMessage(message, { max: MAX_BYTES, measure }));
}
