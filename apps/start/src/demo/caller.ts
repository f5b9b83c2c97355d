export interface Caller {
  /** Signs the calls that follow. */
  authorize(token: string): void;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  delete<T>(path: string): Promise<T>;
}

/** Calls the API at `url` as a client would; throws on an answer that is none of success. */
export function createCaller(url: string): Caller {
  let authorization: Record<string, string> = {};

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...authorization,
        // Asks the sign-in for a bearer token besides the cookie.
        'x-request-token': 'true',
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const answer = (await response.json()) as T & { error?: string; message?: string };
    if (response.ok) return answer;
    throw new Error(`${method} ${path} answered ${response.status}: ${answer.message ?? answer.error}`);
  }

  return {
    authorize: (token) => {
      authorization = { authorization: `Bearer ${token}` };
    },
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    delete: (path) => call('DELETE', path),
  };
}
