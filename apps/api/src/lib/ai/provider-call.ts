import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Config } from '../config/config.ts';
import { createOperatorClient } from '../egress/operator-client.ts';
import { type AiError, aborted, createError, type ErrorCode, type ProviderError, toAiError } from './errors.ts';
import { createModelQuirks } from './models/quirks.ts';
import { askOfflineModel } from './offline-model.ts';
import type { ProviderList } from './provider-list.ts';
import { findModel, findRoute, listKeys, type Providers, type Route } from './providers.ts';
import { MAX_TEXT, ModelReply } from './reply.ts';
import {
  type AiRequest,
  type Citation,
  findUnsupportedAttachment,
  joinRequestText,
  nameRefusedFiles,
} from './request.ts';
import { MAX_ANSWER_BYTES, ProviderResponse } from './response.ts';
import { type AiUsage, addUsage, computeUsage, estimateUsage, type Warnings } from './usage.ts';
import { findWebTools } from './web-tools/find-web-tools.ts';

export type CallResult = {
  /** Null if nothing reached the provider, or it is not known what did. */
  usage: AiUsage | null;
} & (
  | {
      ok: true;
      text: string;
      /** The limit of tokens or of size ended the answer. */
      isCut?: true;
      /** The pages that the answer cites; left out without any. */
      citations?: Citation[];
    }
  | {
      ok: false;
      errorCode: ErrorCode;
      message: string;
      retryable: boolean;
      retryAfterMs: number | null;
      /** The request is the cause, so that another model would fail in the same way. */
      isOfRequest?: true;
    }
);

export interface ProviderCalls {
  ask(request: AiRequest): Promise<CallResult>;
  close(): Promise<void>;
}

const CONNECTIONS = 1000;
const CONNECT_MS = 10_000;
/** Compressed answers could not be passed on as they arrive. */
const HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Carillon' };

const PROVIDERS_UNREADABLE = 'The list of providers could not be read, so no model was asked.';
const STILL_PAUSED =
  'The provider pauses its answer again and again: raise maxToolUses, or ask for something that takes fewer steps.';

export function createProviderCalls(settings: Config['ai'], list: ProviderList, log?: Warnings): ProviderCalls {
  const http = createOperatorClient({ connections: CONNECTIONS, connectMs: CONNECT_MS });
  const quirks = createModelQuirks();

  async function askProvider(request: AiRequest, route: ProviderRoute, providers: Providers): Promise<CallResult> {
    const { protocol, key } = route;
    const timeoutMs = Math.min(request.timeoutMs ?? settings.timeoutMs, settings.timeoutMs);
    const deadlineAt = performance.now() + timeoutMs;
    let known = quirks.find(request);
    const reply = new ModelReply(request, known.closesReasoning);
    let spent: AiUsage | null = null;
    // Once more only if the error of the provider taught something new about the model, or to let a paused answer go on.
    for (;;) {
      const body = JSON.stringify(protocol.buildBody(route.model, request, known, reply.turn));
      const error = await post(request, route, body, Math.max(1, deadlineAt - performance.now()), reply);
      if (error === null) {
        spent = addUsage(spent, computeUsage(request, reply, route, log)) as AiUsage;
        if (reply.finishReason !== 'paused') {
          quirks.noteReasoning(request, reply.hasClosedReasoning);
          return toResult(request, reply, spent);
        }
        if (!reply.turn?.pause(request)) return toFailure(createOwnError(STILL_PAUSED), spent);
        reply.resume();
        continue;
      }
      const learned =
        reply.outputText === '' ? quirks.learn(request, error, known, protocol.quirksWithoutEffect) : null;
      if (learned) {
        known = learned;
        reply.resume();
        continue;
      }
      const keys = [key, ...listKeys(providers)];
      const aiError = explainError(error, request, keys, timeoutMs);
      const mayBeBilled = aiError.sent || reply.outputText !== '' || reply.toolUses.all > 0;
      return toFailure(aiError, addUsage(spent, mayBeBilled ? estimateUsage(request, reply, route) : null));
    }
  }

  /** What the user reads, without secrets. */
  function explainError(error: ProviderError, request: AiRequest, keys: readonly string[], timeoutMs: number) {
    const aiError = toAiError(error, { keys, prompt: joinRequestText(request) }, timeoutMs);
    const explained = explainRefusal(aiError, request);
    return explained === aiError ? nameRefusedFiles(aiError, request) : explained;
  }

  /** Reads a 2xx response into `reply`; returns what went wrong, or null. */
  async function post(
    request: AiRequest,
    { protocol, origin, path, key }: ProviderRoute,
    body: string,
    timeoutMs: number,
    reply: ModelReply,
  ): Promise<ProviderError | null> {
    const response = new ProviderResponse(protocol, reply);
    const { end, sent, error } = await http.request({
      origin,
      path,
      method: 'POST',
      headers: { ...HEADERS, ...protocol.buildHeaders(key) },
      body,
      signals: [request.signal],
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      onHeaders: (status, headers) => response.start(status, headers),
      onData: (chunk) => response.read(chunk),
    });
    if (response.hasErrorStatus) return end === 'aborted' ? { kind: 'aborted', sent: false } : response.getHttpError();
    switch (end) {
      case 'complete':
      case 'stopped':
        return response.end();
      case 'too_large':
        return { kind: 'too_large' };
      case 'timeout':
      case 'aborted':
        return { kind: end, sent };
      default:
        return { kind: 'connection', reason: findErrorCode(error), sent };
    }
  }

  return {
    async ask(request) {
      if (http.closed || request.signal.aborted) return toFailure(aborted());
      const providers = await list.load().catch(() => null);
      if (providers === null) return toFailure(createError('PROVIDER_UNAVAILABLE', PROVIDERS_UNREADABLE));
      const route = findRoute(providers, request.model, request.apiKey ?? null);
      if (request.tools?.length && route.kind !== 'rejected') {
        const available = findWebTools(settings, findModel(providers, request.model)?.provider ?? null);
        const missing = request.tools.filter((tool) => !available.includes(tool));
        if (missing.length > 0) return toFailure(lackOfTools(missing));
      }
      if (route.kind === 'offline') return { ok: true, ...(await askOfflineModel(request)) };
      if (route.kind === 'rejected') return toFailure(createError(route.errorCode, route.message));
      const unsupported = findUnsupportedAttachment(request);
      if (unsupported) {
        const name = toStorableText(`${unsupported.name} (${unsupported.mediaType})`, 200);
        return toFailure(createError('INVALID_REQUEST', `The attachment ${name} cannot be given to a model.`));
      }
      return askProvider(request, route, providers);
    },
    close: () => http.close(),
  };
}

type ProviderRoute = Extract<Route, { kind: 'provider' }>;

/** The code of an error or of its cause, such as `ECONNREFUSED`; never its text, which may contain an address. */
function findErrorCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return 'unknown cause';
}

function toResult(request: AiRequest, reply: ModelReply, usage: AiUsage): CallResult {
  const { finishReason } = reply;
  if (finishReason === 'content_filter') {
    return toFailure(createError('CONTENT_FILTERED', "The provider's content filter stopped the answer."), usage);
  }
  if (finishReason === 'error') {
    return toFailure(createError('PROVIDER_UNAVAILABLE', 'The provider broke the answer off with an error.'), usage);
  }
  const text = toStorableText(reply.answer, MAX_TEXT);
  if (/\S/.test(text)) {
    const citations = reply.sources.toArray();
    const isCut = finishReason === 'length' || reply.answer.length > MAX_TEXT;
    return { ok: true, text, usage, ...(isCut && { isCut }), ...(citations.length > 0 && { citations }) };
  }
  if (reply.callsTools && request.tools?.length) return toFailure(toolsHandedBack(request), usage);
  // The same limit would end the next answer in the same place.
  const error =
    finishReason === 'length' || reply.isOnlyReasoning
      ? createOwnError(`The model wrote no text within ${request.maxTokens} tokens: raise maxTokens.`)
      : createError('PROVIDER_UNAVAILABLE', 'The answer of the provider has no text.');
  return toFailure(error, usage);
}

/** For what the settings of the request bring about, whatever the model is. */
const createOwnError = (message: string): AiError => ({ ...createError('PROVIDER_ERROR', message), isOfRequest: true });

function toFailure(error: AiError, usage: AiUsage | null = null): CallResult {
  const { errorCode, message, retryable, retryAfterMs, isOfRequest } = error;
  return { ok: false, usage, errorCode, message, retryable, retryAfterMs, ...(isOfRequest && { isOfRequest }) };
}

const MAX_MESSAGE = 500;
const NAMES_TOOLS = /\btools?\b|tool_(?:call|choice|use)|web[ _-]?(?:search|fetch)|function[ _-]?call/i;

const ADVICE = 'choose another model, or take the tools off the task';

/** Names the tools in the error of a provider that does not let a model use them. */
export function explainRefusal(error: AiError, { tools = [] }: AiRequest): AiError {
  const mayBeRefusal = error.errorCode === 'INVALID_REQUEST' || error.errorCode === 'AUTHENTICATION_FAILED';
  if (tools.length === 0 || !mayBeRefusal || !NAMES_TOOLS.test(error.message)) return error;
  const message = `The tools ${listTools(tools)} were refused: ${ADVICE}. ${error.message}`;
  return createError('INVALID_REQUEST', message.slice(0, MAX_MESSAGE).toWellFormed(), error.sent);
}

/** For a model whose service has none, or not all, of the tools. */
const lackOfTools = (missing: NonNullable<AiRequest['tools']>): AiError =>
  createError(
    'INVALID_REQUEST',
    `The provider of this model does not have the tools ${listTools(missing)}: ${ADVICE}.`,
  );

/** For a service that takes the tools for functions of ours. */
const toolsHandedBack = ({ tools = [] }: AiRequest): AiError =>
  createError('INVALID_REQUEST', `The provider does not run the tools ${listTools(tools)} itself: ${ADVICE}.`);

const listTools = (tools: readonly string[]) => tools.join(' and ');
