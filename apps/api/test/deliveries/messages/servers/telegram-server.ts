import { type JsonAnswer, startJsonServer } from './json-server.ts';
import { parseTelegramHtml, type TelegramEntity } from './telegram-html.ts';

export interface TelegramMessage {
  chatId: string;
  html: string;
  /** After its entities are parsed. */
  text: string;
  entities: TelegramEntity[];
  isSilent: boolean;
}

interface Refusal {
  code: number;
  description: string;
  parameters?: { retry_after?: number; migrate_to_chat_id?: number };
}

export interface TelegramServer {
  url: string;
  /** What was accepted, oldest first. */
  messages: TelegramMessage[];
  /** The number of requests. */
  readonly requests: number;
  /** Refuses what is sent to a chat; null ends that. */
  refuse(chatId: string, refusal: Refusal | null): void;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

const deny = ({ code, description, parameters }: Refusal): JsonAnswer => ({
  status: code,
  body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
});

/** Starts a Bot API with one bot, which checks messages as Telegram does. */
export async function startTelegramServer(t: Test, token: string, chats: readonly string[]): Promise<TelegramServer> {
  const messages: TelegramMessage[] = [];
  const refusals = new Map<string, Refusal>();
  let requests = 0;
  const url = await startJsonServer(t, ({ path, headers, body }) => {
    requests += 1;
    const [, given, method] = /^\/bot([^/]*)\/(\w+)$/.exec(path) ?? [];
    if (!given || !/^\d+:[\w-]+$/.test(given)) return deny({ code: 404, description: 'Not Found' });
    if (given !== token) return deny({ code: 401, description: 'Unauthorized' });
    if (method !== 'sendMessage' || headers['content-type'] !== 'application/json') {
      return deny({ code: 404, description: 'Not Found' });
    }
    const chatId = String(body.chat_id);
    const refusal = refusals.get(chatId);
    if (refusal) return deny(refusal);
    if (!chats.includes(chatId)) return deny({ code: 400, description: 'Bad Request: chat not found' });
    const { text: html, parse_mode, link_preview_options: preview, disable_notification } = body;
    if (typeof html !== 'string' || parse_mode !== 'HTML') {
      return deny({ code: 400, description: 'Bad Request: unsupported parse_mode' });
    }
    if ((preview as { is_disabled?: boolean } | undefined)?.is_disabled !== true) {
      return deny({ code: 400, description: 'A preview would be fetched from the address in the answer' });
    }
    try {
      messages.push({ chatId, html, ...parseTelegramHtml(html), isSilent: disable_notification === true });
    } catch (error) {
      return deny({ code: 400, description: (error as Error).message });
    }
    return { status: 200, body: { ok: true, result: { message_id: messages.length } } };
  });
  return {
    url,
    messages,
    get requests() {
      return requests;
    },
    refuse: (chatId, refusal) => {
      if (refusal) refusals.set(chatId, refusal);
      else refusals.delete(chatId);
    },
  };
}
