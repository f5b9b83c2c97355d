import t from 'tap';
import { START, testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readTaskRow } from '../../../api/test/support/task-rows.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const visitor = visit(app, alice);
const NEXT = new Date('2026-11-20T11:00:00Z');
const open = async (values: Parameters<typeof insertTask>[2] = {}) => {
  const id = await insertTask(ctx, alice.id, { nextExecutionAt: NEXT, ...values });
  return { id, page: await visitor.open(`/tasks/${id}`) };
};
const readPause = async (id: number) => (await readTaskRow(ctx, id)).pausedUntil?.toISOString();

t.test('A task is paused until a time in its zone, and resumed before', async (t) => {
  const { id, page } = await open({ timezone: 'Asia/Tokyo' });
  t.match(page.text, /Until, Tokyo time/);
  const paused = await visitor.submit(page, 'Pause until then', { pausedUntil: '2026-11-25T08:00' });
  t.equal(await readPause(id), '2026-11-24T23:00:00.000Z');
  t.match(paused, { url: `/tasks/${id}`, text: /The task is paused until 25 November at 00:00\./ });
  t.match(paused.text, /Paused until 25 November at 00:00, in 5 days\..*Paused until ?Wed 25 Nov, 00:00/);
  t.match(await visitor.submit(paused, 'Resume now'), { url: `/tasks/${id}`, text: /The task is resumed\./ });
  t.equal(await readPause(id), undefined);
});

t.test('A pause that is over is not mentioned', async (t) => {
  const { id } = await open({ pausedUntil: new Date('2026-11-21T07:00:00Z') });
  t.match((await visitor.open(`/tasks/${id}`)).text, /Resume now/);
  t.teardown(() => clock.set(START));
  clock.set('2026-11-21T07:00:00Z');
  const later = await visitor.open(`/tasks/${id}`);
  t.notMatch(later.text, /Resume now|Paused until/);
  t.match(later.text, /Pause until…/);
});

t.test('A pause that cannot be is refused at its field, with what was typed', async (t) => {
  const { id, page } = await open({ timezone: 'Europe/Berlin' });
  const cases = [
    ['2026-11-20T10:59', /Enter a time in the future/],
    ['2026-02-30T08:00', /Enter a date and a time/],
    ['', /Enter a date and a time/],
    ['"><script>alert(1)</script>', /Enter a date and a time/],
  ] as const;
  for (const [typed, message] of cases) {
    const refused = await visitor.submit(page, 'Pause until then', { pausedUntil: typed });
    t.match(refused, { status: 422, heading: page.heading }, typed);
    t.match(refused.document.querySelector('#pausedUntil-error')?.text, message);
    t.equal(refused.document.querySelector('#pausedUntil')?.getAttribute('value'), typed);
    t.ok(refused.document.querySelector('#pausedUntil')?.hasAttribute('autofocus'));
    t.equal(refused.document.querySelector('#more #pausedUntil'), null, 'the form is in the page, not in a menu');
    t.equal(refused.document.querySelectorAll('main script').length, 0);
  }
  const elsewhere = await visitor.submit(page, 'Pause until then', { timezone: 'Mars/Olympus' });
  t.equal(elsewhere.status, 422);
  t.equal(await readPause(id), undefined);
});

t.test("A stranger's task cannot be paused until a time", async (t) => {
  const { id, page } = await open();
  page.document.querySelector('#pause form')?.setAttribute('action', '/tasks/x/pause');
  t.equal((await visitor.submit(page, 'Pause until then')).status, 404);
  const bob = await signUp(app, { name: 'Bob' });
  const bobs = visit(app, bob);
  const his = await bobs.open(`/tasks/${await insertTask(ctx, bob.id, { nextExecutionAt: NEXT })}`);
  for (const typed of ['2026-11-25T08:00', '']) {
    his.document.querySelector('#pause form')?.setAttribute('action', `/tasks/${id}/pause`);
    t.equal((await bobs.submit(his, 'Pause until then', { pausedUntil: typed })).status, 404);
  }
  t.equal(await readPause(id), undefined);
});

t.test('The page names the settings that are not the default, and no others', async (t) => {
  const plain = await open();
  t.notMatch(plain.page.text, /Context|Watched|Alerts|Missed runs|Time limit|budget/);
  const { page } = await open({
    context: { clock: true, previousResult: true },
    outputSchema: { type: 'object', properties: { price: {}, currency: {} } },
    notify: 'change',
    watch: ['price'],
    alerts: { overdueMinutes: 30, costAboveUsd: 0.5 },
    missed: 'all',
    overlap: 'queue',
    maxRetries: 0,
    timeoutMs: 90_000,
    endsAt: new Date('2027-01-01T11:00:00Z'),
    maxRuns: 20,
    monthlyBudgetUsd: 5,
  });
  const facts = page.document.querySelector('#settings')?.closest('section')?.querySelector('.facts');
  const pairs = facts?.children.map(({ text }) => text.trim()) ?? [];
  const named = Object.fromEntries(pairs.flatMap((text, at) => (at % 2 === 0 ? [[text, pairs[at + 1]]] : [])));
  t.match(named, {
    Context: 'date, time and last answer',
    'Answer format': 'JSON with price, currency',
    Notifications: 'only for changes of price',
    Alerts: '30 min overdue, cost above $0.50',
    'Missed runs': 'run, up to 10',
    'Overlapping runs': 'queued',
    Retries: 'none',
    'Time limit': '1 min 30 s',
    End: 'Fri 1 Jan 2027, 12:00',
    'Maximum runs': '20',
    'Monthly budget': '$5.00',
  });
});
