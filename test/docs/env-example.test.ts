import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { loadConfig } from '@carillon/api/lib/config/config';
import { VARIABLES } from '@carillon/api/lib/config/variables';
import { readInterval } from '@carillon/scheduler/settings';
import t from 'tap';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const EXAMPLE = read('.env.example');
const lines = EXAMPLE.split('\n');
const settings = parseEnv(EXAMPLE.replaceAll(/^#(?=[A-Z0-9_]+=)/gm, ''));

t.test('.env.example lists exactly the variables that exist', async (t) => {
  const ofScheduler = read('apps/scheduler/src/settings.ts').matchAll(/\benv\.([A-Z0-9_]+)/g);
  const names = [...ofScheduler].map(([, name = '']) => name).filter((name) => !name.endsWith('_FILE'));
  const existing = new Set([...Object.keys(VARIABLES), ...names]);
  t.strictSame(Object.keys(settings).sort(), [...existing].sort());
});

t.test('.env.example shows the defaults, and copied as it is changes nothing', async (t) => {
  for (const [name, variable] of Object.entries(VARIABLES)) {
    if (variable.default !== null) t.equal(settings[name], variable.default, name);
  }
  t.equal(readInterval(settings), readInterval({}));
  t.strictSame(parseEnv(EXAMPLE), {});
  const DATA_DIR = t.testdir();
  t.strictSame(loadConfig({ ...settings, DATA_DIR }), loadConfig({ DATA_DIR }));
});

t.test('.env.example says what each variable is for', async (t) => {
  for (const [index, line] of lines.entries()) {
    const [, name] = /^#([A-Z0-9_]+)=/.exec(line) ?? [];
    if (name) t.match(lines[index - 1], /^# .*\w/, name);
  }
  t.ok(lines.every((line) => line === '' || line.startsWith('#')));
});
