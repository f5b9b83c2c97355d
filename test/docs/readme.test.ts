import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { loadConfig } from '@carillon/api/lib/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { startCarillon } from '../../apps/start/src/start.ts';
import { getSection, parseSteps, readPage } from './pages.ts';

const blocks = parseSteps(getSection(readPage('README.md'), 'From nothing to a stored result')).map(({ code }) => code);

/** Replaces the fixed wait, which may be too short on a busy machine. */
const UNTIL_COMPLETED = `until curl -sS "$API/api/executions" -H "Authorization: Bearer $TOKEN" | grep -q completed
do sleep 1; done
`;

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;

const shells = isThere('curl') ? ['bash', 'zsh'].filter(isThere) : [];
if (shells.length === 0) t.pass('the quick start of the README', { skip: 'there is no curl, or neither bash nor zsh' });

for (const shell of shells) {
  t.test(`the quick start of the README works as it is pasted into ${shell}`, async (t) => {
    const { url: DATABASE_URL } = await testDatabase(t);
    const settings = { PORT: '0', DATA_DIR: t.testdir(), AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
    const { url, close } = await startCarillon(loadConfig({ DATABASE_URL, ...settings }), 1000);
    t.teardown(close);

    const address = 'API=http://127.0.0.1:3000\n';
    t.ok(blocks[0]?.startsWith(address));
    const pasted = blocks.join('').replace(address, `API=${url}\n`).replace('sleep 7\n', UNTIL_COMPLETED);
    const { stdout, stderr } = await promisify(execFile)(shell, ['-c', pasted], { timeout: 60_000 });
    t.equal(stderr, '');
    const [registered, previewed, created, found] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.equal(registered.user.email, 'ada@example.com');
    t.match(previewed.occurrences, [{}, { note: /clocks go forward/ }, {}]);
    t.type(created.taskId, 'number');
    const [execution] = found.executions;
    t.match(execution, { status: 'completed', taskId: created.taskId, result: /no AI provider|offline/i });
    t.ok(execution.tokens.total > 0);
  });
}
