import type { operations } from './generated/api.ts';
import type { ChangeOptions, PostOptions, RequestOptions, Settings } from './options.ts';
import { type ListKey, Pages } from './pages.ts';
import { type Query, type Request, sendRequest } from './request.ts';
import { ResponsePromise } from './response-promise.ts';

/** The JSON body of the successful response of an operation. */
export type AnswerOf<Id extends keyof operations> = JsonOf<
  SuccessOf<operations[Id] extends { responses: infer Responses } ? Responses : never>
>;
type SuccessOf<Responses> = Responses extends { 200: infer Response }
  ? Response
  : Responses extends { 201: infer Response }
    ? Response
    : never;
type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

/** The JSON body of the request of an operation. */
export type BodyOf<Id extends keyof operations> = operations[Id] extends { requestBody?: infer Given }
  ? JsonOf<NonNullable<Given>>
  : never;

/** The query of an operation. */
export type QueryOf<Id extends keyof operations> = operations[Id] extends { parameters: { query?: infer Given } }
  ? NonNullable<Given>
  : never;

export interface UploadOptions extends RequestOptions {
  /** Default: the value of the `File`. */
  name?: string | undefined;
}

/** Makes signing in return a token besides the cookie. */
export const withToken = (options: RequestOptions = {}): RequestOptions => ({
  ...options,
  headers: { 'x-request-token': 'true', ...options.headers },
});

type Details = Pick<Request, 'query' | 'body' | 'takesKey'> & {
  options?: (RequestOptions & PostOptions & ChangeOptions) | undefined;
};

/** What all resources share. */
export class Resource {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  protected send<Body>(method: string, path: string, details: Details): ResponsePromise<Body> {
    return new ResponsePromise(sendRequest<Body>(this.#settings, { method, path, ...details }));
  }

  protected pages<Page extends { pagination: object }, Key extends ListKey<Page>>(
    path: string,
    key: Key,
    { query, options }: { query?: Query | undefined; options?: RequestOptions | undefined },
  ): Pages<Page, Key> {
    return new Pages((next) => this.send('GET', path, { query: { ...query, ...next }, options }), key);
  }

  protected upload<Body>(
    method: string,
    path: string,
    file: Blob,
    { name, ...options }: UploadOptions = {},
  ): ResponsePromise<Body> {
    const form = new FormData();
    form.set('file', file, name ?? (file as { name?: string }).name ?? 'file');
    return this.send(method, path, { body: form, options });
  }
}
