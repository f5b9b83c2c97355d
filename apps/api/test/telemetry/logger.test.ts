import { DrizzleQueryError } from 'drizzle-orm';
import t from 'tap';
import { describeError } from '../../src/lib/telemetry/logger.ts';

t.test('A database error is logged without its message, also in the stack', async (t) => {
  const error = new DrizzleQueryError('select $1', ['hunter2\n    at hunter3'], new Error('cause'));
  t.notMatch(JSON.stringify(describeError(error)), /hunter|select/);
});

t.test('Any other error is logged with its message, and a cause that is not an error with its type', async (t) => {
  t.match(describeError(new Error('plain', { cause: 'text' })), { type: 'Error', message: 'plain', cause: 'string' });
});
