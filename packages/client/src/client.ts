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
import { type AnswerOf, type BodyOf, Resource } from './resource.ts';
import { ResponsePromise } from './response-promise.ts';

/** An event of the log, as `events.list()` and `events.stream()` have it. */
export type Event = { id: string; event: string; timestamp: string; data: object };

class Agent extends resources.Agent {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    super(settings);
    this.#settings = settings;
  }

  /** Answers a message, piece by piece. The last event has the complete response. */
  stream(
    body: BodyOf<'processMessage'>,
    options?: RequestOptions,
  ): AsyncGenerator<AgentEvent<AnswerOf<'processMessage'>>, void, undefined> {
    return streamAnswer(this.#settings, '/api/agent/process', body, options);
  }
}

class Events extends Resource {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    super(settings);
    this.#settings = settings;
  }

  /** Yields events as they happen, each once and in order, across lost connections. Ends when `signal` is aborted. */
  stream(options?: StreamOptions): AsyncGenerator<Event, void, undefined> {
    return streamEvents<Event>(this.#settings, '/api/events', options);
  }
}

export interface CustomRequest extends PostOptions, ChangeOptions {
  query?: Query | undefined;
  body?: unknown;
}

/** A client of one installation. Methods resolve to the body of the response as the API documents it. */
export class Carillon {
  readonly #settings: Settings;
  readonly agent: Agent;
  readonly auth: resources.Auth;
  readonly coupons: resources.Coupons;
  readonly events: Events;
  readonly executions: resources.Executions;
  readonly integrations: resources.Integrations;
  readonly notifications: resources.Notifications;
  readonly tasks: resources.Tasks;
  readonly uploads: resources.Uploads;
  readonly usage: resources.Usage;
  readonly user: resources.User;
  readonly webhooks: resources.Webhooks;

  /** Throws a `TypeError` for an invalid option. */
  constructor(options: ClientOptions) {
    const settings = readSettings(options);
    this.#settings = settings;
    this.agent = new Agent(settings);
    this.auth = new resources.Auth(settings);
    this.coupons = new resources.Coupons(settings);
    this.events = new Events(settings);
    this.executions = new resources.Executions(settings);
    this.integrations = new resources.Integrations(settings);
    this.notifications = new resources.Notifications(settings);
    this.tasks = new resources.Tasks(settings);
    this.uploads = new resources.Uploads(settings);
    this.usage = new resources.Usage(settings);
    this.user = new resources.User(settings);
    this.webhooks = new resources.Webhooks(settings);
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
