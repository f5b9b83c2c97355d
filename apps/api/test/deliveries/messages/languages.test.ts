import { buildExamplePayload } from '@carillon/contract/examples/events';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { parse } from 'node-html-parser';
import t from 'tap';
import { buildAppriseRequest } from '../../../src/product/deliveries/messages/kinds/apprise.ts';
import { renderDiscord } from '../../../src/product/deliveries/messages/kinds/discord.ts';
import { renderMattermost } from '../../../src/product/deliveries/messages/kinds/mattermost.ts';
import { buildNtfyRequest } from '../../../src/product/deliveries/messages/kinds/ntfy.ts';
import { renderSlack } from '../../../src/product/deliveries/messages/kinds/slack.ts';
import { renderTeams } from '../../../src/product/deliveries/messages/kinds/teams.ts';
import { buildTelegramRequest } from '../../../src/product/deliveries/messages/kinds/telegram.ts';
import { composeMail, toSubject } from '../../../src/product/deliveries/messages/mail/compose.ts';
import { renderHtml } from '../../../src/product/deliveries/messages/mail/html-part.ts';
import { renderText } from '../../../src/product/deliveries/messages/mail/text-part.ts';
import type { ChannelMessage } from '../../../src/product/deliveries/messages/message.ts';
import { readMessage, type StoredPayload } from '../../../src/product/deliveries/messages/read-message.ts';
import { findSharedTexts } from '../../support/shared-words.ts';

const EVENTS = [
  'execution.completed',
  'execution.failed',
  'task.overdue',
  'task.failing',
  'task.recovered',
  'task.expensive',
  'task.slow',
  'task.degraded',
] as const satisfies readonly EventKind[];
const CHANGES = [
  { path: '', from: [1], to: '' },
  { path: 'price', from: 12.5 },
  { path: '', cut: true },
];
const READERS = [
  { language: 'en', timezone: 'America/Sao_Paulo' },
  { language: 'pt-BR', timezone: 'America/Sao_Paulo' },
] as const;

const payloads: StoredPayload[] = [
  ...EVENTS.map((event) => buildExamplePayload(event)),
  ...[{ outcome: 'not_done', outcomeReason: 'Esmola' }, { changes: CHANGES }, { result: 'x '.repeat(40_000) }].map(
    (execution) => {
      const { data, ...rest } = buildExamplePayload('execution.completed');
      return { ...rest, isCut: true, data: { ...data, execution: { ...data.execution, ...execution } } };
    },
  ),
  buildExamplePayload('test'),
];
const digest = {
  event: 'digest',
  timestamp: '2026-11-20T11:00:00.000Z',
  data: { messages: Array.from({ length: 9 }, () => payloads).flat(), leftOut: 3 },
};

const RENDERINGS: Record<string, (message: ChannelMessage) => unknown> = {
  Slack: renderSlack,
  Mattermost: renderMattermost,
  Teams: renderTeams,
  Discord: renderDiscord,
  Telegram: buildTelegramRequest,
  ntfy: (message) => buildNtfyRequest(message, 'topic'),
  Apprise: buildAppriseRequest,
  mail(message) {
    const mail = composeMail(message, {
      account: 'alice@example.com',
      channel: 'Equipe',
      unsubscribeUrl: 'https://x.example',
    });
    return [toSubject(message), renderText(mail), parse(renderHtml(mail)).querySelector('body')?.structuredText];
  },
};

const DATA =
  /Morning sentence|Begin with the thing[^.…]*[.…]|Why the hardest task comes first|The provider [^.]*\.|https?:[^\s|>)]+|application\/\S+|\S+@example\.com/g;

for (const [channel, render] of Object.entries(RENDERINGS)) {
  t.test(`A message of ${channel} is in the reader's language and time zone`, async (t) => {
    for (const payload of [...payloads, digest]) {
      const [en = [], pt = []] = READERS.map((reader) =>
        listTexts(render(readMessage({ config: { appUrl: 'https://carillon.example' } as never }, payload, reader))),
      );
      t.strictSame(findSharedTexts(en, pt), [], payload.event);
      t.notMatch(pt.join('\n'), /UTC|\b20\d\d-\d\d-\d\d|T\d\d:\d\d/, payload.event);
    }
    const message = readMessage({ config: { appUrl: '' } as never }, payloads[0]!, READERS[1]);
    if (channel !== 'ntfy' && channel !== 'Discord')
      t.match(listTexts(render(message)).join('\n'), '20 de novembro de 2026 às 04:30');
  });
}

/** The lines of a rendering, without addresses and the data of the examples. */
function listTexts(rendering: unknown): string[] {
  if (typeof rendering === 'string') return rendering.replaceAll(DATA, '§').split(/[\n<>§"*|()[\]]/);
  if (typeof rendering !== 'object' || rendering === null) return [];
  // Apps write this in the language and the zone of who reads it.
  return Object.entries(rendering).flatMap(([key, value]) => (key === 'timestamp' ? [] : listTexts(value)));
}
