import { taskProposals } from '@carillon/db';
import t from 'tap';
import { testAgent } from '../../support/agent.ts';
import { askForTask, FRIDAYS, PROMPT } from '../../support/proposals.ts';

const { ctx, ai, ask } = await testAgent(t, { AI_WEB_TOOLS: 'openrouter' });
const askFor = (draft: unknown, context?: object) => askForTask({ ai, ask }, draft, context);

const LISBON = 'Europe/Lisbon';
const NEW_YORK = 'America/New_York';
const ONCE = { name: 'Ferry', prompt: PROMPT };
type Row = [draft: object, task: object, zone?: string];

/** It is Friday, 20 November 2026, 10:00 in UTC. */
const READ: Record<string, Row> = {
  'a local time in the zone of the user': [
    { ...ONCE, scheduledFor: '2026-11-27T17:00' },
    { scheduledFor: '2026-11-27T22:00:00.000Z', recurrence: 'once', timezone: NEW_YORK },
    NEW_YORK,
  ],
  'a local time with seconds and an offset, which models add without converting it': [
    { ...ONCE, scheduledFor: '2026-11-27 9:05:00Z' },
    { scheduledFor: '2026-11-27T14:05:00.000Z' },
    NEW_YORK,
  ],
  'a local time that the clocks skip': [
    { ...ONCE, scheduledFor: '2027-03-28T02:30' },
    { scheduledFor: '2027-03-28T01:30:00.000Z' },
    'Europe/Berlin',
  ],
  'a zone of its own': [
    { ...ONCE, scheduledFor: '2026-11-27T17:00', timezone: 'Asia/Tokyo' },
    { scheduledFor: '2026-11-27T08:00:00.000Z', timezone: 'Asia/Tokyo' },
    LISBON,
  ],
  'a pattern, from its next instant on': [
    { ...ONCE, recurrencePattern: '30 9 * * *', recurrence: 'weekly' },
    { scheduledFor: '2026-11-21T09:30:00.000Z', recurrence: 'daily' },
    LISBON,
  ],
  'a pattern from a day on': [
    { ...ONCE, recurrencePattern: '30 9 * * 1', scheduledFor: '2026-12-01' },
    { scheduledFor: '2026-12-07T09:30:00.000Z' },
    LISBON,
  ],
  'a pattern whose first time is at the time that is named': [
    { ...ONCE, recurrencePattern: '30 9 * * 1', scheduledFor: '2026-12-07T09:30' },
    { scheduledFor: '2026-12-07T09:30:00.000Z' },
  ],
  'a pattern that has begun already': [
    { ...ONCE, recurrencePattern: '30 9 * * 1', scheduledFor: '2020-12-01T09:30' },
    { scheduledFor: '2026-11-23T09:30:00.000Z' },
  ],
  'the next time of a first run in the past': [
    { ...ONCE, recurrence: 'Weekly', scheduledFor: '2026-11-19T17:00' },
    { scheduledFor: '2026-11-26T17:00:00.000Z', recurrence: 'weekly' },
  ],
  'sources, also as mere addresses, and when to run': [
    {
      ...ONCE,
      recurrencePattern: '0 9 * * *',
      sources: ['https://example.com/prices', { name: 'News', url: 'https://example.com/feed', select: null }],
      runIf: 'Changed',
    },
    {
      sources: [
        { url: 'https://example.com/prices', name: 'source1' },
        { url: 'https://example.com/feed', name: 'news' },
      ],
      runIf: 'changed',
    },
  ],
  'no condition without a source': [
    { ...ONCE, recurrencePattern: '0 9 * * *', runIf: 'changed' },
    { recurrence: 'daily' },
  ],
  'words of its own for a recurrence': [
    { ...ONCE, recurrence: 'month', scheduledFor: '2026-11-25T17:00' },
    { recurrence: 'monthly' },
  ],
  'a name that is too long or missing': [
    { prompt: `${PROMPT}\nAnd more of it, until it is too long.`, recurrencePattern: '0 17 * * 5', name: null },
    { name: 'Compare the price of the ferry with that of the train. And m' },
  ],
  'null and empty fields as absent': [
    {
      ...FRIDAYS,
      tools: [],
      outputSchema: null,
      watch: null,
      notify: null,
      channels: [],
      scheduledFor: '',
      timezone: '',
    },
    { ...FRIDAYS, timezone: 'UTC' },
  ],
  'a tool': [{ ...FRIDAYS, tools: ['Web Search', 'web_fetch', 'web-search'] }, { tools: ['web_search', 'web_fetch'] }],
  'what is watched': [
    {
      ...FRIDAYS,
      outputSchema: { properties: { price: { type: 'number' } } },
      watch: ['$.price'],
      notify: 'Change',
    },
    {
      outputSchema: { type: 'object', properties: { price: { type: 'number' } } },
      watch: ['price'],
      notify: 'change',
    },
  ],
};

for (const [what, [draft, expected, timezone]] of Object.entries(READ)) {
  t.test(`A draft is read with ${what}`, async (t) => {
    const { proposal } = await askFor(draft, timezone === undefined ? undefined : { timezone });
    t.match(proposal?.task, expected);
  });
}

const REFUSED: Record<string, [draft: unknown, reason: RegExp]> = {
  'has passed': [{ ...ONCE, scheduledFor: '2026-11-20T09:00' }, /`scheduledFor`: has passed/],
  'has no time': [{ ...ONCE, scheduledFor: '2026-11-27' }, /`scheduledFor`: is required/],
  'has a day that does not exist': [{ ...ONCE, scheduledFor: '2026-02-30T10:00' }, /`scheduledFor`: is required/],
  'has another word for a recurrence': [
    { ...ONCE, scheduledFor: '2026-11-27T10:00', recurrence: 'fortnightly' },
    /`recurrence`: must/,
  ],
  'has a wrong pattern': [{ ...ONCE, recurrencePattern: '0 25 * * *' }, /`recurrencePattern`: The hour field/],
  'has a pattern that never fires': [{ ...ONCE, recurrencePattern: '0 9 30 2 *' }, /never fires/],
  'has an unknown zone': [{ ...FRIDAYS, timezone: 'Lisbon time' }, /`timezone`: must/],
  'has no prompt': [{ ...FRIDAYS, prompt: null }, /`prompt`: is required/],
  'has a short prompt': [{ ...FRIDAYS, prompt: 'Go.' }, /`prompt`: must/],
  'has a long prompt': [{ ...FRIDAYS, prompt: 'x'.repeat(31_000).padEnd(200_001, 'x') }, /cannot be read/],
  'has an unknown tool': [{ ...FRIDAYS, tools: ['send_email'] }, /`tools`: has a tool/],
  'has a schema that is wrong': [{ ...FRIDAYS, outputSchema: { type: 'array' } }, /`outputSchema.type`: must/],
  'has a watched path that is wrong': [{ ...FRIDAYS, watch: ['a..b'] }, /`watch`: item 1 must/],
  'has an unknown channel': [
    { ...FRIDAYS, channels: ['Phone'] },
    /`channels`: has one that is not among your channels/,
  ],
  'has a text that cannot be stored': [
    '{"proposedTask": {"name": "abc", "prompt": "0123456789\\ud800", "recurrencePattern": "0 9 * * *"}}',
    /`prompt`: must not contain half/,
  ],
  'cannot be read': ['{"proposedTask": {"name": "Ferry", "pro', /cannot be read/],
  'is nested too deep': [
    `{"proposedTask": {"name": "abc", "prompt": ${'['.repeat(5000)}${']'.repeat(5000)}}}`,
    /cannot be read/,
  ],
};

for (const [what, [draft, reason]] of Object.entries(REFUSED)) {
  t.test(`A draft that ${what} is not proposed, and the answer says so`, async (t) => {
    const { proposal, response } = await askFor(draft);
    t.equal(proposal, undefined);
    t.match(response.content, /^I propose this\.\n\nNo task is proposed, because .* Nothing was saved\./);
    t.match(response.content, reason);
    t.equal(await ctx.db.$count(taskProposals), 0);
  });
}

t.test('A field that no instruction names is not taken from a draft', async (t) => {
  const text = `{"proposedTask": ${JSON.stringify({
    ...FRIDAYS,
    webhookUrl: 'https://evil.example.com',
    notificationEmail: 'evil@example.com',
    aiModel: 'expensive',
    attachments: ['x'],
    status: 'active',
    userId: 1,
    maxTokens: 200_000,
  }).replace('{', '{"__proto__": {"status": "paused"}, "constructor": {"prototype": {"name": "x"}}, ')}}`;
  const { proposal } = await askFor(text);
  t.same(Object.keys(proposal.task).toSorted(), [
    'name',
    'prompt',
    'recurrence',
    'recurrencePattern',
    'scheduledFor',
    'timezone',
  ]);
  t.equal(({} as { name?: string }).name, undefined);
  t.equal(({} as { status?: string }).status, undefined);
});
