import { type AgentEvent, streamAnswer } from './agent-stream.ts';
import * as resources from './generated/resources.ts';
import { type StreamOptions, streamEvents } from './live-events.ts';
import {
  type ChangeOptions,
  type ClientOptions,
  type PostOptions,
  type RequestOptions,
  readSettings,
  type Settings,
} from './options.ts';
import { type Query, sendRequest } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './resource.ts';
import { ResponsePromise } from './response-promise.ts';
import type { EventKind, LiveEvent } from './webhook-event.ts';

class Agent extends resources.Agent {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    super(settings);
    this.#settings = settings;
  }

  /** Answers a message, piece by piece. The last event has the complete response. */
  stream(
    body: BodyOf<'processMessage'>,
    query?: QueryOf<'processMessage'>,
    options?: RequestOptions,
  ): AsyncGenerator<AgentEvent<AnswerOf<'processMessage'>>, void, undefined> {
    return streamAnswer(this.#settings, '/api/agent/process', { body, query }, options);
  }
}

class Events extends resources.Events {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    super(settings);
    this.#settings = settings;
  }

  /** Yields events as they happen, each once and in order, across lost connections. Ends when `signal` is aborted. */
  stream<Kind extends EventKind>(options?: StreamOptions<Kind>): AsyncGenerator<LiveEvent<Kind>, void, undefined> {
    return streamEvents<LiveEvent<Kind>>(this.#settings, '/api/events', options);
  }
}

export interface CustomRequest extends PostOptions, ChangeOptions {
  query?: Query | undefined;
  body?: unknown;
}

/** A client of one installation. Methods resolve to the body of the response as the API documents it. */
export class Carillon extends resources.Resources {
  readonly #settings: Settings;
  readonly agent: Agent;
  readonly events: Events;

  /** Throws a `TypeError` for an invalid option. */
  constructor(options: ClientOptions) {
    const settings = readSettings(options);
    super(settings);
    this.#settings = settings;
    this.agent = new Agent(settings);
    this.events = new Events(settings);
  }

  /** Calls an endpoint that has no method here, with the same retries and errors. A POST is repeated only with a key. */
  request<Body = unknown>(
    method: string,
    path: `/${string}`,
    { query, body, ...options }: CustomRequest = {},
  ): ResponsePromise<Body> {
    return new ResponsePromise(
      sendRequest<Body>(this.#settings, { method: method.toUpperCase(), path, query, body, options }),
    );
  }
}
