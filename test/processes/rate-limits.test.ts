import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { PASSWORD } from '../../apps/api/test/support/people.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';

t.test('Two processes count each request once, together', async (t) => {
  const { url: databaseUrl } = await testDatabase(t);
  // The sessions of one process are valid at the other only with the same secret.
  const env = { RATE_LIMIT_MULTIPLIER: '1', JWT_SECRET: 'one secret for both processes, 44 characters' };
  const settings = { databaseUrl, aiUrl: 'offline', env };
  const processes = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  const at = (i: number) => processes[i % 2] as ApiProcess;

  const post = (i: number, path: string, body: object, headers: Record<string, string> = {}) => {
    const init = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    };
    return fetch(`${at(i).url}${path}`, init);
  };
  const account = { email: 'alice@example.com', password: PASSWORD };
  t.equal((await post(0, '/api/auth/register', { ...account, name: 'Alice' })).status, 201);
  const registrations = await Promise.all(Array.from({ length: 8 }, (_, i) => post(i, '/api/auth/register', {})));
  t.equal(countOf(registrations, 400), 2, '3 of 9 registrations from one address');
  const signedIn = await post(1, '/api/auth/login', account, { 'x-request-token': 'true' });
  const { token } = (await signedIn.json()) as { token: string };
  const logins = await Promise.all(Array.from({ length: 20 }, (_, i) => post(i, '/api/auth/login', account)));
  t.equal(countOf(logins, 200), 4, '5 of 21 sign-ins');

  const headers = { authorization: `Bearer ${token}` };
  const reads = await Promise.all(
    Array.from({ length: 300 }, (_, i) => fetch(`${at(i).url}/api/tasks/1`, { headers })),
  );
  t.equal(countOf(reads, 404), 120, '120 of 300 reads of a task');
  t.equal(countOf(reads, 429), 180);
});

const countOf = (responses: Response[], status: number) =>
  responses.filter((response) => response.status === status).length;
