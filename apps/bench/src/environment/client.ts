import type { Person } from './people.ts';

/** Posts JSON as somebody who is signed in, and returns the answer. Throws for anything but a 2xx. */
export async function callAs({ token }: Pick<Person, 'token'>, url: string, body: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}
