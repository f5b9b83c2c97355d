export interface ApiClient {
  /** Sends this token with the requests that follow. */
  authorize(token: string): void;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  delete<T>(path: string): Promise<T>;
}

/** A client of the API at `url`. Throws unless a response is 2xx. */
export function createApiClient(url: string): ApiClient {
  let authorization: Record<string, string> = {};

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...authorization,
        // Makes the sign-in return a bearer token besides the cookie.
        'x-request-token': 'true',
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const json = (await response.json()) as T & { error?: string; message?: string };
    if (response.ok) return json;
    throw new Error(`${method} ${path} answered ${response.status}: ${json.message ?? json.error}`);
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
