import type { Static, TSchema } from '@sinclair/typebox';
import type { Operation } from '../operation.ts';

/** A part of the request that the operation takes, under the name that it has in an example. */
type RequestPart<O, Key extends string, Name extends string> = O extends { [K in Key]: infer S extends TSchema }
  ? { [N in Name]: Static<S> }
  : unknown;

/** Of these an example may leave out what a caller may. */
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
 * A good request of an operation and what it answers, held to the types of its schemas. Refusals are made of their
 * envelopes; `refused` has the words that are said here, or a whole body, and always those of 404 and 409.
 */
export type ExampleOf<O extends Operation> = RequestPart<O, 'params', 'params'> &
  OptionalRequestPart<O, 'querystring', 'query'> &
  OptionalRequestPart<O, 'headers', 'headers'> &
  RequestPart<O, 'body', 'body'> & {
    response: SuccessBodies<O['response']>;
  } & RequiredErrorExamples<O['response']>;

/** An example of each operation of a module of the contract: a missing one is an error of types. */
export type ExamplesFor<M> = {
  [K in keyof M as M[K] extends Operation ? K : never]: M[K] extends Operation ? ExampleOf<M[K]> : never;
};

/** As it is read by whoever knows the operation by its id alone. */
export interface Example {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
  response: Record<number, unknown>;
  errors?: Partial<Record<number, ErrorExample>>;
}
