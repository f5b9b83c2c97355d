import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { compileSchema } from '../src/compile.ts';
import { SchemaError } from '../src/schema-node.ts';

/** https://github.com/json-schema-org/JSON-Schema-Test-Suite, as Debian packages it. */
const folder = '/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance';
const isInstalled = existsSync(folder);
if (!isInstalled && process.env.REQUIRE_PROGRAMS) {
  throw new Error('REQUIRE_PROGRAMS is set, but libtest-json-schema-acceptance-perl is not installed.');
}
const skip = isInstalled ? false : 'libtest-json-schema-acceptance-perl is not installed';

interface Group {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

/** What the suite has and a schema of a task may not have. */
const REFUSALS = [
  /^must be a reference within this schema/,
  /^leads to no schema$/,
  // Of another `$id` within the schema, which is refused too.
  /^is the anchor of two schemas$/,
  /^is supported at the root only$/,
  /^must be an absolute address$/,
  /^is not supported/,
  /^must be https:\/\/json-schema\.org/,
];

/** The groups of each file that are refused at save: they need other documents, or a `$id` or `$dynamicRef` within a schema. */
const REFUSED_GROUPS = {
  'anchor.json': 4,
  'defs.json': 1,
  'dynamicRef.json': 17,
  'id.json': 4,
  'ref.json': 16,
  'refRemote.json': 14,
  'unknownKeyword.json': 1,
  'vocabulary.json': 2,
};

t.test('The JSON Schema Test Suite for 2020-12 passes, but for what is refused', { skip }, async (t) => {
  const files = globSync('tests/draft2020-12/*.json', { cwd: folder });
  t.ok(files.length > 40, `${files.length} files`);
  let checked = 0;
  const refused: Record<string, number> = {};
  for (const file of files.sort()) {
    for (const { description, schema, tests } of JSON.parse(readFileSync(join(folder, file), 'utf8')) as Group[]) {
      try {
        const compiled = compileSchema(schema, 'schema');
        for (const { description: what, data, valid } of tests) {
          checked += 1;
          t.equal(compiled.check(data).problems.length === 0, valid, `${file}: ${description}: ${what}`);
        }
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        refused[basename(file)] = (refused[basename(file)] ?? 0) + 1;
        const { field, message } = error;
        t.ok(
          REFUSALS.some((known) => known.test(message)),
          `${file}: ${description}: ${field} ${message}`,
        );
      }
    }
  }
  t.ok(checked > 1000, `${checked} values`);
  t.same(refused, REFUSED_GROUPS);
});
