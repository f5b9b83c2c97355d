import { CHANNEL_KINDS } from '@carillon/contract/channels/channels';
import { strictObject, stringEnum } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { listChannels as list } from '../../../product/deliveries/channels/read.ts';
import { quote } from '../answers/texts.ts';
import { defineTool } from '../tool.ts';

const STATES = ['works', 'off', 'failed', 'unconfirmed'] as const;
type State = (typeof STATES)[number];

const WORDS: Record<State, string> = {
  works: 'works',
  off: 'switched off',
  failed: 'failed, so that nothing is sent until the user switches it on again',
  unconfirmed: 'waits for the user to open the link in its mail',
};

/** More than an account can have. */
const ALL = { limit: 100, offset: 0 };

export const listChannels = defineTool({
  name: 'list_channels',
  title: 'List channels',
  description:
    'Lists where answers can be sent, such as Slack, Telegram or a mailbox, with the ids for `channels` of a task, and whether each works. The user adds channels in the dashboard.',
  scope: 'webhooks:read',
  as: 'GET /api/channels',
  input: strictObject({}),
  output: Type.Object({
    channels: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        kind: stringEnum(CHANNEL_KINDS),
        state: stringEnum(STATES),
      }),
    ),
    page: Type.String(),
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }) {
    const found = await list(ctx, caller, ALL);
    const channels = found.channels.map(({ id, name, kind, ...rest }) => ({ id, name, kind, state: toState(rest) }));
    const page = `${ctx.config.appUrl}/channels`;
    const lines = channels.map(({ id, name, kind, state }) => `- ${id}: ${kind} ${quote(name)}, ${WORDS[state]}`);
    const none = `There is no channel. The user can add one at ${page}`;
    return { text: lines.length === 0 ? none : lines.join('\n'), data: { channels, page } };
  },
});

function toState({ status, isConfirmed }: { status: string; isConfirmed: boolean }): State {
  if (status === 'failed') return 'failed';
  if (!isConfirmed) return 'unconfirmed';
  return status === 'active' ? 'works' : 'off';
}
