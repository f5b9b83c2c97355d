import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { createKey } from '../../../api/test/support/keys.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { line } from '../../../api/test/support/task-files.ts';
import { postTask, TASK } from '../../../api/test/support/tasks.ts';
import { openCarillon, runCarillon } from './run-carillon.ts';

const cwd = mkdtempSync(join(tmpdir(), 'carillon-tasks-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
const { app } = await testContext(t);
const url = await app.listen({ port: 0, host: '127.0.0.1' });
const alice = await signUp(app);
const { secret } = await createKey(app, alice, { scopes: ['tasks:read', 'tasks:write'] });
const env = { CARILLON_URL: url, CARILLON_KEY: secret };
const runNext = openCarillon(t);
const tasks = (...args: string[]) => runNext(['tasks', ...args], env, { cwd });

t.test('A file is exported, compared and applied', async (t) => {
  await postTask(app, alice, { externalId: 'a' });
  t.same(await tasks('export', 'tasks.yaml'), { code: 0, out: '', err: '' });
  const file = readFileSync(join(cwd, 'tasks.yaml'), 'utf8');
  t.match(file, /^- externalId: a\n {2}name: Morning news\n/);
  t.equal((await tasks('export')).out, file);
  const same = 'To create: 0, to change: 0, unchanged: 1, to delete: 0.\n';
  t.same(await tasks('diff', 'tasks.yaml'), { code: 0, out: same, err: '' });
  writeFileSync(
    join(cwd, 'more.jsonl'),
    `${line('a', { aiModel: 'openai/gpt-5-mini' })}\n${line('b', { name: 'Second' })}\n`,
  );
  const next = 'Second, next run 2026-11-20T11:00:00.000Z\n';
  t.same(await tasks('diff', 'more.jsonl'), {
    ...{ code: 1, err: '' },
    out: `${next}To create: 1, to change: 0, unchanged: 1, to delete: 0.\n`,
  });
  const applied = `${next}Created: 1, changed: 0, unchanged: 1, deleted: 0.\n`;
  t.same(await tasks('apply', 'more.jsonl'), { code: 0, out: applied, err: '' });
  t.same(await runCarillon(['tasks', 'diff', '--prune'], env, { cwd, input: file }), {
    ...{ code: 1, err: '' },
    out: 'To create: 0, to change: 0, unchanged: 1, to delete: 1.\n',
  });
  t.equal((await tasks('apply', 'tasks.yaml', '--prune')).code, 0);
  t.equal((await tasks('export', '-')).out, file);
});

t.test('Errors have the file, the line and the field', async (t) => {
  writeFileSync(join(cwd, 'wrong.jsonl'), `\n${JSON.stringify({ ...TASK, name: 'x' })}\n`);
  const err = 'wrong.jsonl:2: name must be at least 3 characters\n';
  for (const command of ['diff', 'apply']) t.same(await tasks(command, 'wrong.jsonl'), { code: 1, out: '', err });
});

t.test('Wrong arguments are 2, refusals and failures 1, each in one line', async (t) => {
  const bare = (...args: string[]) => runNext(['tasks', ...args], {}, { cwd });
  t.match(await bare('export'), { code: 2, err: 'Give --url and --key, or set CARILLON_URL and CARILLON_KEY.\n' });
  t.match(await bare('export', '--url', 'ftp://x', '--key', 'k'), { code: 2, err: /^ftp:\/\/x is not an address/ });
  t.match(await bare('export', '--url', 'http://127.0.0.1:9', '--key', 'k'), { code: 1, err: /was not reached/ });
  t.match(await bare('export', '--url', url, '--key', 'crl_wrong'), { code: 1, err: /^Refused with 401: / });
  t.match(await tasks('apply', 'nothing.yaml'), { code: 1, err: 'nothing.yaml cannot be read (ENOENT).\n' });
  t.equal((await tasks('export', '--colour')).code, 2);
  t.equal((await tasks('merge')).code, 2);
});
