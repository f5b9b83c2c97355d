import t, { type Test } from 'tap';
import { testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { signUp } from '../support/people.ts';
import { patchTask, postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app);
const id = await postTask(app, alice);
const untouched = await readTask(app, alice, id);
const receivedEvents = await captureEvents(ctx, alice);

/** Creation and change accept and reject the same values. */
const REQUESTS = {
  creation: (given: object | string) => send('POST', '/api/agent/create-task', given, TASK),
  change: (given: object | string) => send('PATCH', `/api/tasks/${id}`, given, {}),
};

function send(method: 'POST' | 'PATCH', url: string, given: object | string, rest: object) {
  const payload = typeof given === 'string' ? given : JSON.stringify({ ...rest, ...given });
  return app.inject({ method, url, headers: { ...alice.headers, 'content-type': 'application/json' }, payload });
}

/** A rejected request changes nothing and sends no event. */
async function assertUntouched(t: Test) {
  t.same(await readTask(app, alice, id), untouched);
  t.same(await receivedEvents(), []);
}

const INSTANT = 'must be an ISO 8601 date-time with Z or an offset, of the years 1970 to 9999';
const ZONE = 'must be an IANA time zone name, such as Europe/Lisbon';
const UNKNOWN = ['is not a known field'];
const WRONG: [object, Record<string, (string | RegExp)[]>][] = [
  [{ name: null }, { name: ['must be a string'] }],
  [{ name: 12 }, { name: ['must be a string'] }],
  [{ name: 'ab' }, { name: ['must be at least 3 characters'] }],
  [{ name: 'n'.repeat(101) }, { name: ['must be at most 100 characters'] }],
  [{ name: ' \t\n' }, { name: ['must be at least 3 characters'] }],
  [{ name: '  ab ' }, { name: ['must be at least 3 characters'] }],
  [{ prompt: 'Too short' }, { prompt: ['must be at least 10 characters'] }],
  [{ prompt: ' '.repeat(10) }, { prompt: ['must not be blank'] }],
  [{ prompt: 'p'.repeat(200_001) }, { prompt: ['must be at most 200000 characters'] }],
  [{ description: 'd'.repeat(501) }, { description: ['must be at most 500 characters'] }],
  [{ description: 5 }, { description: ['must be a string or null'] }],
  [{ scheduledFor: 'tomorrow' }, { scheduledFor: [INSTANT] }],
  [{ scheduledFor: '2026-11-21T09:00:00' }, { scheduledFor: [INSTANT] }],
  [{ scheduledFor: '2027-02-29T09:00:00Z' }, { scheduledFor: [INSTANT] }],
  [{ scheduledFor: '10000-01-01T00:00:00Z' }, { scheduledFor: [INSTANT] }],
  [{ scheduledFor: '+275760-09-13T00:00:00.000Z' }, { scheduledFor: [INSTANT] }],
  [{ scheduledFor: '9999-12-31T23:59:59-00:01' }, { scheduledFor: [INSTANT] }],
  [{ scheduledFor: 1795174718 }, { scheduledFor: ['must be a string'] }],
  [{ scheduledFor: '2026-11-20T10:00:00.000Z' }, { scheduledFor: ['must be in the future'] }],
  [{ recurrence: 'hourly' }, { recurrence: ['must be one of once, daily, weekly, monthly'] }],
  [{ recurrence: 'DAILY' }, { recurrence: ['must be one of once, daily, weekly, monthly'] }],
  [{ timezone: 'Mars/Olympus' }, { timezone: [ZONE] }],
  [{ timezone: '+02:00' }, { timezone: [ZONE] }],
  [{ timezone: 'BST' }, { timezone: [ZONE] }],
  [{ timezone: '' }, { timezone: [ZONE] }],
  [{ recurrencePattern: '' }, { recurrencePattern: ['must not be empty'] }],
  [{ recurrencePattern: '0 9 * *' }, { recurrencePattern: [/exactly five fields/] }],
  [{ recurrencePattern: '0 0 9 * * *' }, { recurrencePattern: [/exactly five fields/] }],
  [{ recurrencePattern: '@daily' }, { recurrencePattern: [/exactly five fields/] }],
  [{ recurrencePattern: '60 * * * *' }, { recurrencePattern: [/minute field \(60\)/] }],
  [{ recurrencePattern: '0 0 30 2 *' }, { recurrencePattern: [/never fires/] }],
  [{ recurrencePattern: '0 '.repeat(200) }, { recurrencePattern: ['must be at most 256 characters'] }],
  [{ aiModel: '' }, { aiModel: ['must not be empty', 'must not contain spaces'] }],
  [{ aiModel: 'a b' }, { aiModel: ['must not contain spaces'] }],
  [{ aiModel: 'm'.repeat(201) }, { aiModel: ['must be at most 200 characters'] }],
  [{ aiModel: null }, { aiModel: ['must be a string'] }],
  [{ maxTokens: 0 }, { maxTokens: ['must be at least 1'] }],
  [{ maxTokens: 200_001 }, { maxTokens: ['must be at most 200000'] }],
  [{ maxTokens: 1.5 }, { maxTokens: ['must be an integer'] }],
  [{ maxTokens: '1024' }, { maxTokens: ['must be an integer'] }],
  [{ temperature: -1 }, { temperature: ['must be at least 0'] }],
  [{ temperature: 201 }, { temperature: ['must be at most 200'] }],
  [{ temperature: 0.7 }, { temperature: ['must be an integer'] }],
  [{ temperature: 1e300 }, { temperature: ['must be at most 200'] }],
  [{ attachments: 'file' }, { attachments: ['must be an array'] }],
  [{ attachments: [''] }, { attachments: ['item 1 must not be empty'] }],
  [{ attachments: ['a', 7] }, { attachments: ['item 2 must be a string'] }],
  [{ attachments: Array(11).fill('a') }, { attachments: ['must have at most 10 items'] }],
  [{ webhookUrl: 'ftp://example.com/' }, { webhookUrl: [/http or https/] }],
  [{ webhookUrl: '' }, { webhookUrl: [/http or https/] }],
  [{ webhookUrl: 'http://169.254.169.254/' }, { webhookUrl: [/./] }],
  [{ webhookUrl: 'http://localhost:3000/' }, { webhookUrl: ['must not be a URL of this service'] }],
  [{ webhookUrl: `https://example.com/${'x'.repeat(2048)}` }, { webhookUrl: ['must be at most 2048 characters'] }],
  [{ notificationEmail: 'alice' }, { notificationEmail: ['must be an e-mail address'] }],
  [{ notificationEmail: 'a@example.com\nBcc: b@example.com' }, { notificationEmail: ['must be an e-mail address'] }],
  [{ notificationEmail: ['a@example.com'] }, { notificationEmail: ['must be a string or null'] }],
  [{ status: 'completed' }, { status: ['must be one of active, paused'] }],
  [{ status: 'ACTIVE' }, { status: ['must be one of active, paused'] }],
  [{ status: null }, { status: ['must be a string', 'must be one of active, paused'] }],
  [
    { userId: 1, nextExecutionAt: null },
    { userId: UNKNOWN, nextExecutionAt: UNKNOWN },
  ],
  [
    { name: 'ab', temperature: 201, x: 1 },
    { name: [/3/], temperature: [/200/], x: UNKNOWN },
  ],
];

/** Lengths just outside the limits. */
const BEYOND = [
  ['name', 2],
  ['name', 101],
  ['prompt', 9],
  ['prompt', 200_001],
  ['description', 501],
] as const;

for (const [request, send] of Object.entries(REQUESTS)) {
  t.test(`${request}: invalid values are rejected by field, all of them at once`, async (t) => {
    for (const [given, details] of WRONG) {
      const answer = await send(given);
      const label = JSON.stringify(given).slice(0, 60);
      t.equal(answer.statusCode, 400, label);
      t.match(answer.json(), { success: false, error: 'Validation error', details }, label);
      t.same(Object.keys(answer.json().details).sort(), Object.keys(details).sort(), label);
    }
    await assertUntouched(t);
  });

  t.test(`${request}: lengths count code points`, async (t) => {
    for (const letter of ['🔔', '𝒜', '語']) {
      for (const [field, length] of BEYOND) {
        const answer = await send({ [field]: letter.repeat(length) });
        t.equal(answer.statusCode, 400, `${field} of ${length} ${letter}`);
        t.same(Object.keys(answer.json().details), [field]);
      }
    }
    await assertUntouched(t);
  });

  t.test(`${request}: NUL and half a surrogate pair are rejected in every field`, async (t) => {
    const bad = {
      '\\u0000': 'must not contain the NUL character',
      '\\ud83d': 'must not contain half a surrogate pair',
    };
    const texts = [
      'name',
      'description',
      'prompt',
      'scheduledFor',
      'recurrence',
      'timezone',
      'aiModel',
      'recurrencePattern',
      'webhookUrl',
      'notificationEmail',
    ];
    for (const [escaped, message] of Object.entries(bad)) {
      for (const field of texts) {
        const answer = await send(JSON.stringify({ ...TASK, [field]: 'A bell rang: #' }).replace('#', escaped));
        t.equal(answer.statusCode, 400, `${field} ${escaped}`);
        t.same(answer.json().details, { [field]: [message] });
      }
      const answer = await send(JSON.stringify({ ...TASK, attachments: ['a', '#'] }).replace('#', escaped));
      t.same(answer.json().details, { attachments: [`item 2 ${message}`] });
    }
    await assertUntouched(t);
  });
}

t.test('A field at its limits is accepted, in characters of any width', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const his = await postTask(app, bob);
  for (const letter of ['🔔', '𝒜', 'é', '語']) {
    const least = { name: letter.repeat(3), prompt: letter.repeat(10), description: '' };
    const most = { name: letter.repeat(100), prompt: letter.repeat(200_000), description: letter.repeat(500) };
    for (const given of [least, most]) {
      t.match((await patchTask(app, bob, his, given)).json().task, given);
      t.match(await readTask(app, bob, await postTask(app, bob, given)), given);
    }
  }
});
