import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { compileSchema } from '../src/compile.ts';
import { SchemaError } from '../src/schema-node.ts';
import { createDraw } from './support/random-schemas.ts';

const SCHEMAS = Number(process.env.SCHEMAS ?? 120);
const VALUES = 20;

/** References of drawn schemas may be endless, which Ajv does not notice. */
function compile(schema: object) {
  try {
    return compileSchema(schema, 'schema');
  } catch (error) {
    if (error instanceof SchemaError && error.message === 'leads back to itself for the same value') return null;
    throw error;
  }
}

/** Null if the two modes of Ajv disagree or fail. */
function compileWithAjv(schema: object): (value: unknown) => boolean | null {
  const modes = [true, false].map((allErrors) =>
    new Ajv2020({ strict: false, logger: false, allErrors }).compile(schema),
  );
  return (value) => {
    try {
      const [one, other] = modes.map((validate) => validate(value));
      return one === other ? one === true : null;
    } catch {
      return null;
    }
  };
}

t.test('Ajv comes to the same verdict for drawn schemas and values', async (t) => {
  const draw = createDraw(2020);
  const seen = { valid: 0, invalid: 0, undecided: 0 };
  for (let at = 0; at < SCHEMAS; at += 1) {
    const schema = draw.root();
    const compiled = compile(schema);
    if (!compiled) continue;
    const askAjv = compileWithAjv(schema);
    for (let count = 0; count < VALUES; count += 1) {
      const value = draw.value();
      const { problems } = compiled.check(value);
      const verdict = askAjv(value);
      seen[verdict === null ? 'undecided' : verdict ? 'valid' : 'invalid'] += 1;
      if (verdict === null || verdict === (problems.length === 0)) continue;
      const details = { schema: JSON.stringify(schema), value: JSON.stringify(value), verdict, problems };
      return t.fail('Ajv has another verdict', details);
    }
  }
  t.comment(JSON.stringify(seen));
  const values = seen.valid + seen.invalid;
  t.ok(
    values > SCHEMAS * VALUES * 0.9 && seen.valid > values * 0.05 && seen.undecided < values * 0.02,
    'enough is drawn',
  );
});
