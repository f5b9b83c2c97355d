import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { insertHistory, type PastRun } from '../../../api/test/support/task-history.ts';
import { insertTask, insertUsage, readRuns, readTaskRow } from '../../../api/test/support/task-rows.ts';
import { INVALID_IDS, insertUpload, runDue } from '../../../api/test/support/tasks.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const visitor = visit(app, alice);
const NEXT = new Date('2026-11-20T11:00:00Z');
const plan = (runs: Partial<PastRun>[]): PastRun[] =>
  runs.map((run, at) => ({ plannedFor: new Date(Date.UTC(2026, 10, at + 1, 9)), fate: 'ran', ...run }));
const open = async (values: Parameters<typeof insertTask>[2] = {}, runs: Partial<PastRun>[] = []) => {
  const id = await insertTask(ctx, alice.id, { nextExecutionAt: NEXT, ...values });
  const runIds = runs.length > 0 ? await insertHistory(ctx, id, plan(runs)) : [];
  return { id, runIds, page: await visitor.open(`/tasks/${id}`) };
};

t.test('The page says when the task runs, what it last answered and what has changed', async (t) => {
  const { id, runIds } = await open({ name: 'Digest', recurrencePattern: '0 11 * * *', description: 'What is new?' }, [
    { result: '# Quiet\n\nSame\n' },
    { fate: 'late', result: '# Busy <b>now</b>\n\nSame\n' },
  ]);
  const count = countStatements(ctx.db);
  const page = await visitor.open(`/tasks/${id}`);
  t.equal(count(), SESSION_STATEMENTS + 2, 'the session, the task and its runs');
  t.match(page, { status: 200, heading: 'Digest' });
  t.match(page.text, /Every day at 11:00\. Next run today at 11:00, in 1 hour\./);
  t.match(page.text, /What is new\?/);
  t.match(page.text, /Last 2 planned runs ?1 on time, 1 late/);
  t.equal(page.document.querySelector('.answer h3')?.innerHTML, 'Busy &lt;b&gt;now&lt;/b&gt;');
  t.equal(page.document.querySelector('.diff del')?.text, 'Quiet');
  t.match(page.document.querySelector('.strip.tall title:last-of-type')?.text, /Completed|Late/);
  t.equal(page.document.querySelector('#next'), null, 'the subtitle says all next runs');
  const links = page.document.querySelectorAll('main a').map((link) => link.getAttribute('href'));
  for (const link of [...runIds.map((run) => `/executions/${run}`), `/executions?task=${id}`, `/tasks/${id}/edit`]) {
    t.ok(links.includes(link), link);
  }
});

t.test('A page is read in one column', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const carols = visit(app, carol);
  const open = async (values: Parameters<typeof insertTask>[2] = {}, runs: Partial<PastRun>[] = []) => {
    const id = await insertTask(ctx, carol.id, { nextExecutionAt: NEXT, ...values });
    if (runs.length > 0) await insertHistory(ctx, id, plan(runs));
    return { page: await carols.open(`/tasks/${id}`) };
  };

  t.test('The prompt is under the title, and a long one can be unfolded', async (t) => {
    const short = (await open({ prompt: 'What is new?\nBe brief.' })).page;
    t.equal(short.document.querySelector('.asked')?.text, 'What is new?\nBe brief.');
    t.equal(short.document.querySelector('#whole-prompt'), null);
    const prompt = `First line\n${'x'.repeat(600)}`;
    const { document } = (await open({ prompt })).page;
    const [beginning, whole] = document.querySelectorAll('.asked').map(({ text }) => text);
    t.match(beginning, /^First line\nx{400,} …$/);
    t.equal(whole, prompt);
  });

  t.test('Runs that a sentence says are not listed, and others are', async (t) => {
    const every = (recurrencePattern: string) => open({ recurrencePattern, scheduledFor: NEXT });
    const minute = (await every('* * * * *')).page;
    t.match(minute.text, /Every minute\. Next run today at 11:00/);
    t.equal(minute.document.querySelectorAll('.dot').length, 0);
    const weekdays = (await every('0 11 * * 1-5')).page;
    t.match(weekdays.text, /Next runs ?11:00 ?Fri 20 Nov, in 1 hour ?11:00 ?Mon 23 Nov/);
    t.equal(weekdays.document.querySelectorAll('.dot').length, 5);
  });

  t.test('What is rarely done is in the menu of the row', async (t) => {
    const { page } = await open({ recurrencePattern: '0 11 * * *' });
    const row = page.document.querySelector('form.do')?.querySelectorAll('button, a');
    t.same(
      row?.map(({ text }) => text),
      ['Run now', 'Pause', 'Edit'],
    );
    const menu = page.document.querySelector('#more[popover]');
    t.match(menu?.text, /Skip the next run.*Pause until….*Run missed ones.*Duplicate.*Delete…/s);
    t.ok(page.document.querySelector('button[popovertarget=more]'));
  });

  t.test('A chart of nothing is not drawn, and the axis of one day has times', async (t) => {
    const hours = ['2026-11-20T08:00', '2026-11-20T09:00'].map((at) => new Date(`${at}:00Z`));
    const { page } = await open(
      {},
      hours.map((plannedFor) => ({ plannedFor, costUsd: 0 })),
    );
    const captions = page.document.querySelectorAll('figure .chart').map(({ text }) => text);
    t.equal(captions.length, 1);
    t.match(captions[0], /Duration/);
    t.match(captions[0], /08:00.*09:00/s);
    const { page: first } = await open({}, [{ costUsd: 0.1 }]);
    t.equal(first.document.querySelector('figure .chart'), null, 'one bar compares nothing');
  });
});

t.test('A failed run is shown with its reason and a link', async (t) => {
  const { page, runIds } = await open({}, [{}, { status: 'failed', errorCode: 'TIMEOUT' }]);
  const notice = page.document.querySelector('.notice');
  t.match(notice?.text, /The last run failed\. The provider did not answer in time\. The next run starts as planned\./);
  t.equal(notice?.querySelector('a')?.getAttribute('href'), `/executions/${runIds[1]}`);
  t.match(page.document.querySelector('.answer')?.text, /All is well/, 'the answer is that of the run before');
});

t.test('The scale of the smallest costs is a number', async (t) => {
  const { page } = await open({}, [{ costUsd: 0.00002 }, { costUsd: 0.00004 }]);
  t.match(page.text, /Cost, up to \$0\.0001/);
});

t.test('A run that you stopped is no failure in the strip', async (t) => {
  const { page } = await open({}, [{}, { status: 'failed', errorCode: 'CANCELLED' }]);
  t.match(page.text, /Last 2 planned runs ?1 on time, 1 (stopped|cancelled)/i);
  t.equal(page.document.querySelector('.strip .failed'), null);
  t.equal(page.document.querySelector('.notice'), null);
});

t.test(
  'Each cell of the strip is a link to its run, or to the runs of its day, and says what has happened',
  async (t) => {
    const { id, runIds, page } = await open({}, [{}, { status: 'failed' }, { fate: 'missed' }, { fate: 'over_quota' }]);
    const links = page.document.querySelectorAll('.strip.tall a');
    const list = `/executions?task=${id}`;
    t.same(
      links.map((link) => link.getAttribute('href')?.replaceAll('&amp;', '&')),
      [
        `/executions/${runIds[0]}`,
        `/executions/${runIds[1]}`,
        `${list}&from=2026-11-03&to=2026-11-03&outcome=missed`,
        `${list}&from=2026-11-04&to=2026-11-04`,
      ],
    );
    t.match(
      links.map((link) => link.getAttribute('aria-label')).join(),
      /1 Nov.*: Completed.*2 Nov.*: Failed.*Missed.*4 Nov/i,
    );
    t.equal(links.filter((link) => !link.hasAttribute('tabindex')).length, 1, 'one stop of the Tab key');
    t.equal((await visitor.open(links[2]?.getAttribute('href')?.replaceAll('&amp;', '&') ?? '')).status, 200);
  },
);

t.test('The notice of a failure goes with the next answer', async (t) => {
  const { page } = await open({}, [{ status: 'failed' }, {}]);
  t.equal(page.document.querySelector('.notice'), null);
});

t.test('A task without runs says what will stand there', async (t) => {
  const { page } = await open();
  t.match(page.text, /Each planned run appears here/);
  t.match(page.text, /No answer yet/);
  t.equal(page.document.querySelector('#runs'), null);
});

t.test('The settings show the model, the limits, the files, the webhook and the mail', async (t) => {
  const upload = await insertUpload(ctx, alice);
  const { page } = await open({
    maxTokens: 2048,
    temperature: 30,
    attachments: [upload.id],
    webhookUrl: 'https://hooks.example.com/a',
    notificationEmail: 'team@example.com',
  });
  const facts = page.document.querySelector('.facts')?.text.replace(/\s+/g, ' ').trim();
  t.match(facts, /Model ?test-model.*2,048 tokens.*0\.30.*a\.txt.*hooks\.example\.com\/a.*team@example\.com/);
});

t.test('A task is run, paused and resumed', async (t) => {
  const { id, page } = await open();
  const started = await visitor.submit(page, 'Run now');
  t.match(started, { url: `/tasks/${id}`, text: /The task is started\..*Waiting/ });
  t.match(await visitor.submit(started, 'Pause'), {
    text: /The task is paused\..*It runs again when you resume it/,
  });
  const paused = await visitor.open(`/tasks/${id}`);
  t.equal(paused.document.querySelectorAll('.dot').length, 0, 'nothing is planned');
  t.match(await visitor.submit(paused, 'Resume'), { text: /The task is resumed\./ });
  t.equal((await readTaskRow(ctx, id)).status, 'active');
  await runDue(ctx);
  t.match(await visitor.open(`/tasks/${id}`), { text: /Last answer.*See run/ });
});

t.test('A run over quota is refused with the reason', async (t) => {
  const person = await signUp(app);
  const id = await insertTask(ctx, person.id, { nextExecutionAt: NEXT });
  await insertUsage(ctx, person.id, { executions: 10_000 });
  const own = visit(app, person);
  const page = await own.submit(await own.open(`/tasks/${id}`), 'Run now');
  t.match(
    page.document.querySelector('.notice.warn')?.text,
    /Not started: All \S+ runs are used\. Runs resume on [^.]* UTC\./,
  );
  t.notMatch(page.text, /\d{4}-\d\d-\d\dT/, 'no instant for programs');
  t.equal((await readRuns(ctx, id)).length, 0);
});

t.test('A task is deleted after a page that names it and what goes with it', async (t) => {
  const { id } = await open({ name: 'Old idea' }, [{}, {}]);
  const asked = await visitor.open(`/tasks/${id}/delete`);
  t.match(asked, { status: 200, heading: 'Delete Old idea', text: /Old idea, 2 runs.*cannot be undone/ });
  t.match(await visitor.submit(asked, 'Delete task'), { url: '/tasks', text: /1 task deleted\./ });
  t.match(await visitor.open(`/tasks/${id}`), { status: 404 });
});

t.test('A task of a stranger, and one that cannot exist, are not found', async (t) => {
  const id = await insertTask(ctx, bob.id, { name: 'Secret', nextExecutionAt: NEXT });
  const { page } = await open();
  const token = page.document.querySelector('input[name=_csrf]')?.getAttribute('value') ?? '';
  t.ok(token);
  for (const one of [id, ...INVALID_IDS]) {
    for (const path of [`/tasks/${one}`, `/tasks/${one}/delete`]) t.equal((await visitor.open(path)).status, 404, path);
  }
  const form = page.document.querySelector('form.do');
  form?.setAttribute('action', `/tasks/${id}`);
  for (const button of ['Run now', 'Pause']) t.equal((await visitor.submit(page, button)).status, 404, button);
  t.equal((await readTaskRow(ctx, id)).status, 'active');
  t.equal((await readRuns(ctx, id)).length, 0);
});

t.test('Names, prompts, answers, errors and addresses stay text', async (t) => {
  const naughty =
    '"><script>alert(1)</script><img src=x onerror=alert(1)> {{7*7}} \u202E [a](javascript:alert(1)) ![b](https://evil.example/b.png)';
  const { page } = await open(
    {
      name: naughty.slice(0, 90),
      description: naughty,
      prompt: naughty,
      webhookUrl: `https://example.com/?${naughty}`,
      notificationEmail: naughty,
      aiModel: naughty,
    },
    [{ result: naughty }, { result: `${naughty}\n${'x'.repeat(10_000)}` }, { status: 'failed', error: naughty }],
  );
  t.equal(page.status, 200);
  t.notMatch(page.response.body, /<script>|<img src=x|src="https?:|href="javascript:/);
  t.equal(page.document.querySelectorAll('main img').length, 0);
  t.equal(page.heading.startsWith('"><script>'), true);
});

t.test('Notes say what a clock change does to a planned run, in the clock of the task', async (t) => {
  clock.set('2027-03-26T12:00:00Z');
  const person = await signUp(app);
  const id = await insertTask(ctx, person.id, {
    scheduledFor: new Date('2026-03-01T01:30:00Z'),
    nextExecutionAt: new Date('2027-03-27T01:30:00Z'),
    timezone: 'Europe/Berlin',
  });
  t.match(
    (await visit(app, person).open(`/tasks/${id}`)).text,
    /Exceptions ?01:30 ?Sun 28 Mar, 03:30 in Berlin ?The clocks go forward past 02:30 on 28 March 2027, so this runs at 03:30\./,
  );
});
