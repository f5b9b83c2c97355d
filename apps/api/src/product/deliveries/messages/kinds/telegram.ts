import { getTexts } from '@carillon/texts';
import type { Context } from '../../../../context.ts';
import { invalidField } from '../../../../errors.ts';
import { describeStatus, describeTitle, fitMessage } from '../format/message-blocks.ts';
import { countTelegram, renderTelegram } from '../format/telegram-html.ts';
import { cutText } from '../format/text.ts';
import { type Block, paragraphOf, textOf } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import { postToTarget, readJson } from '../post.ts';
import type { ChannelSender, ChannelSettings, SendOutcome } from '../sender.ts';

const MAX_LENGTH = 4096;
const MAX_TITLE_LENGTH = 300;
const TOKEN = /^\d{1,20}:[\w-]{20,150}$/;
const CHAT = /^(-?\d{1,20}|@[A-Za-z]\w{3,31})$/;
/** Other answers with 400 and 403 are about one message, or pass. */
const NEVER_AGAIN =
  /chat not found|chat was deleted|group chat was deactivated|bot was blocked|bot was kicked|user is deactivated|bot is not a member|can't initiate conversation/i;

/** Messages of a bot: https://core.telegram.org/bots/api#sendmessage */
export const telegram: ChannelSender = {
  title: 'Telegram',
  fields: ['botToken', 'chatId'],
  check(_, { botToken, chatId }) {
    if (botToken === undefined) throw invalidField('botToken', 'is required');
    if (!TOKEN.test(botToken)) throw invalidField('botToken', 'must be a token of @BotFather, such as 123456:AbC…');
    if (chatId === undefined) throw invalidField('chatId', 'is required');
    if (!CHAT.test(chatId)) throw invalidField('chatId', 'must be the id of a chat, or the @name of a channel');
  },
  show: ({ chatId = '' }) => ({ shown: { chatId }, url: 'https://api.telegram.org' }),
  async send(ctx, settings, { message, signal }) {
    const request = buildTelegramRequest(message);
    const first = await post(ctx, settings, request, signal);
    if (first.movedTo === null) return first.outcome;
    // A group that has become a supergroup has another id.
    const second = await post(ctx, { ...settings, chatId: first.movedTo }, request, signal);
    return second.outcome;
  },
};

/** The parameters of `sendMessage`, but the chat. */
export function buildTelegramRequest(message: ChannelMessage) {
  const title = cutText(describeTitle(message), MAX_TITLE_LENGTH);
  const head = renderTelegram([
    paragraphOf({ type: 'strong', inlines: [textOf(title)] }, { type: 'break' }, textOf(describeStatus(message))),
  ]);
  const foot = renderTelegram([
    paragraphOf({ type: 'link', url: message.url, text: getTexts(message.reader.language).messages.open }),
  ]);
  const join = (body: string) => [head, body, foot].filter((part) => part !== '').join('\n\n');
  const render = (blocks: readonly Block[]) => join(renderTelegram(blocks));
  const measure = (blocks: readonly Block[]) => countTelegram(render(blocks));
  return {
    text: render(fitMessage(message, { max: MAX_LENGTH, measure, hasTables: true })),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  };
}

async function post(
  ctx: Context,
  { botToken = '', chatId = '' }: ChannelSettings,
  request: object,
  signal: AbortSignal | undefined,
): Promise<{ outcome: SendOutcome; movedTo: string | null }> {
  const url = `${ctx.config.telegramUrl}/bot${botToken}/sendMessage`;
  let movedTo: string | null = null;
  const body = { chat_id: chatId, ...request };
  const outcome = await postToTarget(
    ctx,
    { url, body, secrets: [botToken, encodeURIComponent(botToken)], signal },
    (status, _, answered) => {
      const { ok, description, parameters } = readJson(answered);
      const { retry_after: seconds, migrate_to_chat_id: id } = (parameters ?? {}) as Record<string, unknown>;
      if (typeof id === 'number' && Number.isSafeInteger(id)) movedTo = String(id);
      const said = typeof description === 'string' ? description : '';
      return {
        error: ok === true ? null : said || 'the answer is not that of the Bot API',
        retryAfterMs: typeof seconds === 'number' ? seconds * 1000 : undefined,
        isGone: ok === false && (status === 401 || status === 404 || NEVER_AGAIN.test(said)),
      };
    },
  );
  return { outcome, movedTo };
}
