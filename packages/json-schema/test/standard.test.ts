import t, { type Test } from 'tap';
import { compileSchema } from '../src/compile.ts';
import { ARRAY_CASES } from './support/arrays.ts';
import type { Case } from './support/case.ts';
import { LOGIC_CASES } from './support/logic.ts';
import { OBJECT_CASES } from './support/objects.ts';
import { VALUE_CASES } from './support/values.ts';

function check(t: Test, cases: Case[]) {
  for (const [schema, valid, invalid] of cases) {
    const compiled = compileSchema(schema, 'schema');
    for (const [values, isValid] of [
      [valid, true],
      [invalid, false],
    ] as const) {
      for (const value of values) {
        const { problems, gaveUp } = compiled.check(value);
        t.equal(problems.length === 0, isValid, `${JSON.stringify(schema)} and ${JSON.stringify(value)}`);
        t.notOk(gaveUp);
      }
    }
  }
}

t.test('Values are checked as the standard says', async (t) => check(t, VALUE_CASES));
t.test('Items are checked as the standard says', async (t) => check(t, ARRAY_CASES));
t.test('Properties are checked as the standard says', async (t) => check(t, OBJECT_CASES));
t.test('Combined schemas and references are checked as the standard says', async (t) => check(t, LOGIC_CASES));
