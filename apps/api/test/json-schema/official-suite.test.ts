import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSchema } from '../../src/json-schema/compile.ts';
import { SchemaError } from '../../src/json-schema/schema-node.ts';

/** A copy of https://github.com/json-schema-org/JSON-Schema-Test-Suite, which no package has for 2020-12. */
const folder = process.env.JSON_SCHEMA_TEST_SUITE;
const skip = folder ? false : 'JSON_SCHEMA_TEST_SUITE does not name a copy of the suite';

interface Group {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

/** What the suite has and a schema of a task may not have. */
const REFUSALS = [
  /^must be a reference within this schema/,
  /^leads to no schema$/,
  /^is supported at the root only$/,
  /^must be an absolute address$/,
  /^is not supported/,
  /^must be https:\/\/json-schema\.org/,
];

t.test('The JSON Schema Test Suite for 2020-12 passes, but for what is refused', { skip }, async (t) => {
  const files = globSync('tests/draft2020-12/*.json', { cwd: folder });
  t.ok(files.length > 40, `${files.length} files`);
  const counts = { tests: 0, groups: 0, refused: 0 };
  for (const file of files.sort()) {
    for (const { description, schema, tests } of JSON.parse(readFileSync(join(folder!, file), 'utf8')) as Group[]) {
      counts.groups += 1;
      try {
        const compiled = compileSchema(schema, 'schema');
        for (const { description: what, data, valid } of tests) {
          counts.tests += 1;
          t.equal(compiled.check(data).problems.length === 0, valid, `${file}: ${description}: ${what}`);
        }
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        counts.refused += 1;
        const { field, message } = error;
        t.ok(
          REFUSALS.some((known) => known.test(message)),
          `${file}: ${description}: ${field} ${message}`,
        );
        t.comment(`refused: ${file}: ${description}: ${field} ${message}`);
      }
    }
  }
  t.comment(JSON.stringify(counts));
});
