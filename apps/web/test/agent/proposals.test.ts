import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { tasks } from '../../../../packages/db/src/index.ts';
import { postChannel } from '../../../api/test/support/channels.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { insertProposal } from '../../../api/test/support/proposals.ts';
import { type ShownPage, visit } from '../support/visitor.ts';
import { readValue } from '../task-form/read-form.ts';

const { app, ctx, clock } = await testContext(t);
const HOUR_MS = 3_600_000;
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';

let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app, { timezone: 'Europe/Berlin' });
});

const DRAFT = {
  name: 'Compare the two bin prices',
  prompt: 'What does the bin cost in both shops? Say which one is cheaper.',
  scheduledFor: '2026-11-27T16:00:00Z',
  recurrence: 'weekly',
  recurrencePattern: '0 17 * * 5',
  timezone: 'Europe/Berlin',
  notify: 'change',
  maxRuns: 20,
};

const listTasks = () => ctx.db.select().from(tasks).where(eq(tasks.userId, alice.id));

/** The page of the agent after an answer that proposes this task. */
async function openAnswer(id: string, person = alice) {
  const visitor = visit(app, person);
  const page = await visitor.open('/agent');
  const fields = {
    asked: 'Every Friday',
    content: 'I propose **a task**.',
    suggestion: 'On Mondays too?',
    proposal: id,
  };
  const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
  const form = page.document.querySelector('form.examples');
  form?.insertAdjacentHTML('beforeend', inputs.join(''));
  const example = form?.querySelector('button')?.text ?? '';
  return { visitor, page: await visitor.submit(page, example) };
}

const readCard = ({ document }: ShownPage) => document.querySelector('.proposal')?.text.replace(/\s+/g, ' ').trim();

t.test('A proposed task is shown with its plan, runs, channels and tools, and is saved by one click', async (t) => {
  const channel = await postChannel(app, alice, { name: 'Purchasing' });
  const draft = { ...DRAFT, channels: [channel.id], tools: ['web_search'], maxToolUses: 4 };
  const { page } = await openAnswer(await insertProposal(ctx, alice, draft));
  const card = readCard(page);
  t.match(card, /^Proposed task ?Compare the two bin prices ?Fridays at 17:00 ?What does the bin cost in both shops\?/);
  t.match(card, /Channels ?Purchasing/);
  t.match(card, /Web tools ?search, up to 4 uses per run/);
  t.match(card, /Notifications ?only when the answer changes.*Maximum runs ?20/);
  t.match(card, /Next runs ?17:00 ?Fri 27 Nov ?17:00 ?Fri 4 Dec.*Berlin time/);
  t.match(card, /Not saved\. This proposal expires tomorrow at 11:00\./);
  t.same(await listTasks(), []);
});

t.test('Saving makes the task once, and a second click shows it', async (t) => {
  const { visitor, page } = await openAnswer(await insertProposal(ctx, alice, DRAFT));
  const saved = await visitor.submit(page, 'Save task');
  const [task, ...more] = await listTasks();
  t.match(saved, { status: 200, heading: DRAFT.name, url: `/tasks/${task?.id}`, text: /The task is saved\./ });
  t.match(task, { recurrencePattern: DRAFT.recurrencePattern, notify: 'change', maxRuns: 20, status: 'active' });
  const again = await visitor.submit(page, 'Save task');
  t.match(again, { status: 200, url: `/tasks/${task?.id}`, text: /This task is already saved\./ });
  t.same([more.length, (await listTasks()).length], [0, 1]);
  const changing = await visitor.follow(page, 'Edit first');
  t.match(changing, { url: `/tasks/${task?.id}`, text: /This task is already saved\./ });
  const shown = await visitor.submit(page, 'On Mondays too?');
  t.match(readCard(shown), /^Saved task.*Open task$/);
});

t.test('A proposed task is changed in the form before it is saved, once', async (t) => {
  const { visitor, page } = await openAnswer(await insertProposal(ctx, alice, DRAFT));
  const form = await visitor.follow(page, 'Edit first');
  t.match(form, { status: 200, heading: 'New task', text: /The agent proposes this task/ });
  t.match(form.text, /Fridays at 17:00, Europe\/Berlin time\./);
  t.equal(readValue(form, 'prompt'), DRAFT.prompt);
  t.equal(readValue(form, 'maxRuns'), '20');
  const wrong = await visitor.submit(form, 'Save task', { name: 'x', at: '18:30' });
  t.match(wrong, { status: 422, text: /Not saved/ });
  const saved = await visitor.submit(wrong, 'Save task', { name: 'Bin prices' });
  const [task] = await listTasks();
  t.match(saved, { heading: 'Bin prices', url: `/tasks/${task?.id}`, text: /The task is saved\./ });
  t.match(task, { name: 'Bin prices', recurrencePattern: '30 18 * * 5', notify: 'change', maxRuns: 20 });
  t.match(await visitor.submit(form, 'Save task'), { url: `/tasks/${task?.id}`, text: /already saved/ });
  t.equal((await listTasks()).length, 1);
});

t.test('A proposal that is refused leaves the answer, and nothing else', async (t) => {
  const { visitor, page } = await openAnswer(await insertProposal(ctx, alice, DRAFT));
  const shown = await visitor.submit(page, 'Not now');
  t.match(shown, { status: 200, heading: 'Agent', text: /I propose a task\./ });
  t.equal(readCard(shown), undefined);
  t.match(shown.document.querySelector('.turn .do')?.text, /Create a task.*On Mondays too\?/s);
  t.same(await listTasks(), []);
});

t.test('What cannot be saved as proposed is shown in the form, with the reason', async (t) => {
  const channels = [randomUUID()];
  const { visitor, page } = await openAnswer(await insertProposal(ctx, alice, { ...DRAFT, channels }));
  const form = await visitor.submit(page, 'Save task');
  t.match(form, { status: 422, heading: 'New task', text: /One of the channels was deleted/ });
  t.equal(readValue(form, 'name'), DRAFT.name);
  t.match(await visitor.submit(form, 'Save task'), { heading: DRAFT.name, text: /The task is saved\./ });
  t.same((await listTasks())[0]?.channels, []);

  const once = { ...DRAFT, scheduledFor: '2026-11-20T12:00:00Z', recurrence: 'once', recurrencePattern: null };
  const { visitor: other, page: late } = await openAnswer(await insertProposal(ctx, alice, once));
  clock.advance(3 * HOUR_MS);
  const refused = await other.submit(late, 'Save task');
  t.match(refused, { status: 422, heading: 'New task', text: /The first run is in the past\. Choose another time/ });
  const reopened = await other.submit(late, 'On Mondays too?');
  t.match(readCard(reopened), /The first run is in the past\. Choose another time\. ?Edit first ?Not now/);
});

t.test('A proposal that has expired, or is of another person, is not found', async (t) => {
  const id = await insertProposal(ctx, alice, DRAFT);
  const bob = await signUp(app);
  const { visitor, page } = await openAnswer(id);
  const form = await visitor.follow(page, 'Edit first');
  t.equal(readCard((await openAnswer(id, bob)).page), undefined);
  t.equal((await visit(app, bob).open(`/tasks/new?proposal=${id}`)).status, 404);
  for (const other of [randomUUID(), 'no-id']) {
    t.equal((await visitor.open(`/tasks/new?proposal=${other}`)).status, 404, other);
    page.document.querySelector('.proposal form')?.setAttribute('action', `/agent/proposals/${other}`);
    t.equal((await visitor.submit(page, 'Save task')).status, 404, other);
  }
  clock.advance(25 * HOUR_MS);
  page.document.querySelector('.proposal form')?.setAttribute('action', `/agent/proposals/${id}`);
  t.equal((await visitor.submit(page, 'Save task')).status, 404);
  t.equal(readCard((await openAnswer(id)).page), undefined);
  t.match(await visitor.submit(form, 'Save task'), { heading: DRAFT.name, text: /The task is saved\./ });
});

t.test('Text of a proposal stays text', async (t) => {
  const draft = { ...DRAFT, name: HOSTILE, prompt: HOSTILE, description: HOSTILE };
  const { visitor, page } = await openAnswer(await insertProposal(ctx, alice, draft));
  for (const shown of [page, await visitor.follow(page, 'Edit first')]) {
    t.equal(shown.document.querySelectorAll('main script').length, 0);
    t.notMatch(shown.response.body, '<script>alert');
  }
  t.equal(page.document.querySelector('.proposal h2')?.text, HOSTILE);
});
