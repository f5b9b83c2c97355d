import t from 'tap';
import { enqueueDue } from '../../../api/src/product/executions/pipeline/enqueue.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp, signUpAda } from '../../../api/test/support/people.ts';
import { insertTask, insertUsage, readRun } from '../../../api/test/support/task-rows.ts';
import { createModel, failure, runAll } from '../support/runs.ts';
import { visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx } = await testContext(t, { ai: model.ai });

t.test(
  'A rejected key names its variable and its page to an administrator, and an administrator to others',
  async (t) => {
    const [ada, alice] = [await signUpAda(app), await signUp(app)];
    const ids = [await insertTask(ctx, ada.id), await insertTask(ctx, alice.id)] as const;
    await runAll(ctx, model, failure('AUTHENTICATION_FAILED', 'The provider refused the API key (401).'));
    const [own, other] = [await readRun(ctx, ids[0]), await readRun(ctx, ids[1])];
    const admin = await visit(app, ada).open(`/executions/${own.id}`);
    t.match(admin.text, /AI_API_KEY.*Open AI providers/);
    t.notMatch(admin.text, /ask an administrator/);
    t.ok(admin.document.querySelector('.notice a[href="/admin/providers"]'));
    const user = await visit(app, alice).open(`/executions/${other.id}`);
    t.match(user.text, /ask an administrator.*Open the settings/);
    t.notMatch(user.text, /AI_API_KEY|AI providers/);
  },
);

t.test('A run that a quota refused says until when in words, in violet and not in red', async (t) => {
  const bob = await signUp(app, { name: 'Bob', timezone: 'Europe/Berlin' });
  await insertUsage(ctx, bob.id, { executions: 1000 });
  const task = await insertTask(ctx, bob.id);
  await enqueueDue(ctx);
  const { id } = await readRun(ctx, task);
  const bobs = visit(app, bob);
  const page = await bobs.open(`/executions/${id}`);
  t.match(
    page.document.querySelector('.notice.short')?.text,
    /Your quota is used[\s\S]*All 50 runs are used\. Runs resume on/,
  );
  for (const path of [`/executions/${id}`, `/executions/${id}/text`, '/executions']) {
    t.notMatch((await bobs.open(path)).response.body.replaceAll(/datetime="[^"]*"/g, ''), /\d\d-\d\dT\d\d:/, path);
  }
});
