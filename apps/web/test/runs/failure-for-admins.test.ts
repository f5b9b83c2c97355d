import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp, signUpAda } from '../../../api/test/support/people.ts';
import { insertTask, readRun } from '../../../api/test/support/task-rows.ts';
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
