import type { Static, TSchema } from '@sinclair/typebox';
import type { Operation } from '../operation.ts';

/** A part of the request, renamed as in examples. */
type RequestPart<O, Key extends string, Name extends string> = O extends { [K in Key]: infer S extends TSchema }
  ? { [N in Name]: Static<S> }
  : unknown;

type OptionalRequestPart<O, Key extends string, Name extends string> = Partial<{
  [N in Name]: RequestPart<O, Key, Name> extends { [M in Name]: infer V } ? Partial<V> : never;
}>;

type SuccessBodies<R> = { [S in keyof R & (200 | 201)]: R[S] extends TSchema ? Static<R[S]> : never };

type ErrorExample = string | Record<string, unknown>;
type ErrorExamples<R> = { [S in keyof R & (404 | 409)]: ErrorExample } & {
  [S in Exclude<keyof R, 200 | 201 | 302 | 404 | 409>]?: ErrorExample;
};
type RequiredErrorExamples<R> = keyof R & (404 | 409) extends never
  ? { errors?: ErrorExamples<R> }
  : { errors: ErrorExamples<R> };

/**
 * A valid request of an operation and its responses, typed by its schemas. `errors` has the message, or the whole body,
 * of error responses; 404 and 409 are required, the others have standard bodies.
 */
export type ExampleOf<O extends Operation> = RequestPart<O, 'params', 'params'> &
  OptionalRequestPart<O, 'querystring', 'query'> &
  OptionalRequestPart<O, 'headers', 'headers'> &
  RequestPart<O, 'body', 'body'> & {
    response: SuccessBodies<O['response']>;
    /** Of an operation that streams. */
    eventStream?: string;
  } & RequiredErrorExamples<O['response']>;

/** An example for each operation of a module of the contract: a missing one does not compile. */
export type ExamplesFor<M> = {
  [K in keyof M as M[K] extends Operation ? K : never]: M[K] extends Operation ? ExampleOf<M[K]> : never;
};

/** An example, untyped: for readers that look it up by operation id. */
export interface Example {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
  response: Record<number, unknown>;
  eventStream?: string;
  errors?: Partial<Record<number, ErrorExample>>;
}
