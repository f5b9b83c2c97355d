import { type Db, users } from '@carillon/db';
import { eq } from 'drizzle-orm';

const PASSWORD = 'Carillon-2026';
let people = 0;

/** A signed-in user of the API. */
export interface Client {
  post(path: string, body: object): Promise<Record<string, unknown>>;
}

/** Registers somebody, puts them on the pro plan, and signs them in. */
export async function signUp(apiUrl: string, db: Db): Promise<Client> {
  people += 1;
  const email = `person-${people}@example.com`;
  const credentials = { email, password: PASSWORD };
  await call('/api/auth/register', { ...credentials, name: `Person ${people}` });
  await db.update(users).set({ plan: 'pro' }).where(eq(users.email, email));
  const { token } = await call('/api/auth/login', credentials, { 'x-request-token': 'true' });
  return { post: (path, body) => call(path, body, { authorization: `Bearer ${token}` }) };

  async function call(path: string, body: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${apiUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
