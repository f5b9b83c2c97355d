import { getTexts } from '@carillon/texts';
import { invalidField, invalidItem } from '../../../../errors.ts';
import { COMMONMARK, type MarkdownDialect, renderMarkdown } from '../format/markdown-text.ts';
import { describeStatus, describeTitle, fitMessage } from '../format/message-blocks.ts';
import { cutText } from '../format/text.ts';
import { type Block, paragraphOf, textOf } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import { postToTarget } from '../post.ts';
import type { ChannelSender } from '../sender.ts';

/** Apprise passes longer texts on as they are, and services such as Discord refuse them. */
const MAX_LENGTH = 1800;
const MAX_TITLE_LENGTH = 150;
const SERVICE = /^[a-z][a-z0-9+.-]*:\/\/[^\s,]+$/i;
const TYPES: Record<ChannelMessage['level'], 'success' | 'failure' | 'warning' | 'info'> = {
  success: 'success',
  failure: 'failure',
  alert: 'warning',
  recovery: 'success',
  notice: 'info',
};

/** Any service that an Apprise API server sends to: https://github.com/caronc/apprise-api */
export const apprise: ChannelSender = {
  title: 'Apprise',
  fields: ['url', 'urls', 'key'],
  check(ctx, { url, urls, key }) {
    if (url === undefined) throw invalidField('url', 'is required');
    const problem = ctx.http.checkAddress(url);
    if (problem !== null) throw invalidField('url', problem);
    const { search, hash, pathname } = new URL(url);
    if (search + hash !== '' || /\/notify\b/.test(pathname)) {
      throw invalidField('url', 'must be the server, without /notify and what follows');
    }
    if (urls === undefined && key === undefined) throw invalidField('urls', 'is required, or `key`');
    if (urls !== undefined && key !== undefined) throw invalidField('key', 'cannot be given together with `urls`');
    const at = urls?.findIndex((one) => !SERVICE.test(one)) ?? -1;
    if (at >= 0) throw invalidItem('urls', at, 'must be a URL of Apprise, such as ntfy://topic, without spaces');
    if (key !== undefined && key.length > 64) throw invalidField('key', 'must have at most 64 characters');
  },
  show: ({ url = '' }) => ({ shown: { url }, url }),
  send(ctx, { url: server = '', urls, key }, { message, signal }) {
    const url = `${server.replace(/\/+$/, '')}/notify${key === undefined ? '' : `/${key}`}`;
    const body = { ...(urls && { urls }), ...buildAppriseRequest(message) };
    const secrets = [...(urls ?? []), ...(key === undefined ? [] : [key])];
    return postToTarget(ctx, { url, body, secrets, signal }, (status) => ({
      error: describeRefusal(status),
      isGone: status === 401 || status === 403,
    }));
  },
};

function describeRefusal(status: number): string | null {
  // Apprise answers 204 if no service is configured.
  if (status === 204) return 'nothing was sent, because it has no configuration with this key, or no service in it';
  if (status < 300) return null;
  if (status === 401 || status === 403) return 'it does not allow this';
  if (status === 424) return 'at least one of the services did not take the message';
  return `it refused the message with ${status}`;
}

/** The JSON that sends a message, but the services. */
export function buildAppriseRequest(message: ChannelMessage) {
  const link = { type: 'link', url: message.url, text: getTexts(message.reader.language).messages.open } as const;
  const foot = paragraphOf(textOf(`${describeStatus(message)} · `), link);
  const render = (blocks: readonly Block[]) => renderMarkdown([...blocks, foot], DIALECT);
  const measure = (blocks: readonly Block[]) => render(blocks).length;
  return {
    title: defuse(cutText(describeTitle(message), MAX_TITLE_LENGTH)).replace(/\](?=[([:])/g, ']\u2060'),
    body: render(fitMessage(message, { max: MAX_LENGTH, measure })),
    type: TYPES[message.level],
    format: 'markdown',
  };
}

/** Services read what stands after `@` and `<` as mentions. */
const defuse = (text: string) => text.replace(/[@<](?=\S)|[@<]$/g, '$&\u2060');

const DIALECT: MarkdownDialect = {
  ...COMMONMARK,
  escape: (text) => COMMONMARK.escape(defuse(text)),
  // In code, some read those for everybody.
  escapeCode: (text) => text.replace(/@(?=everyone|here|channel|all|room)|<(?=[@!#]|at?\b)/gi, '$&\u2060'),
};
