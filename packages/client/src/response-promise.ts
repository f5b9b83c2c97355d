import type { Answer } from './request.ts';

/** A promise of the body of a response. `withResponse()` also has the status, the headers, the ETag and the request id. */
export class ResponsePromise<Body> extends Promise<Body> {
  readonly #answer: Promise<Answer<Body>>;

  constructor(answer: Promise<Answer<Body>>) {
    super((resolve, reject) => answer.then(({ body }) => resolve(body), reject));
    this.#answer = answer;
  }

  /** `then` returns an ordinary promise. */
  static override get [Symbol.species]() {
    return Promise;
  }

  withResponse(): Promise<Answer<Body>> {
    return this.then(() => this.#answer);
  }
}
