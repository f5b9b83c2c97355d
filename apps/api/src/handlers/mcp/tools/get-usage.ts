import { Usage } from '@carillon/contract/accounts/usage';
import { strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { getUsage as read } from '../../../product/usage/read.ts';
import { defineTool } from '../tool.ts';

const Quota = Type.Object({ used: Type.Integer(), limit: Type.Integer() });

export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Get usage',
  description: 'Shows the used runs, tokens and storage with the limits of the plan, this month and today (UTC).',
  scope: 'usage:read',
  as: 'GET /api/usage',
  input: strictObject({}),
  output: Type.Object({
    period: Usage.properties.period,
    runs: Quota,
    tokens: Quota,
    today: Type.Object({ runs: Quota, tokens: Quota }),
    storageMB: Type.Object({ used: Type.Number(), limit: Type.Number() }),
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }) {
    const { period, executions, tokens, daily, storage } = await read(ctx, caller);
    const data = {
      period,
      runs: toQuota(executions),
      tokens: toQuota(tokens),
      today: { runs: toQuota(daily.executions), tokens: toQuota(daily.tokens) },
      storageMB: { used: storage.usedMB, limit: storage.limitMB },
    };
    const lines = [
      `Used in ${period}: ${describe(data.runs)} runs, ${describe(data.tokens)} tokens.`,
      `Used today: ${describe(data.today.runs)} runs, ${describe(data.today.tokens)} tokens.`,
      `Files: ${describe(data.storageMB)} MiB.`,
    ];
    return { text: lines.join('\n'), data };
  },
});

interface Quota {
  used: number;
  limit: number;
}

const toQuota = ({ used, limit }: Quota): Quota => ({ used, limit });
const describe = ({ used, limit }: Quota) => `${used} of ${limit}`;
