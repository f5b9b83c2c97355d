import type { IncomingMessage, ServerResponse } from 'node:http';

interface Part {
  type: string;
  text?: string;
  image_url?: { url: string };
  file?: { filename?: string; file_data?: string };
}

export interface ChatRequest {
  model: string;
  messages: { role: string; content: string | Part[] }[];
  max_tokens?: number;
  max_completion_tokens?: number;
  temperature?: number;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  [field: string]: unknown;
}

export interface RequestError {
  status: number;
  message: string;
  code: string;
  param?: string;
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString();
}

/** Returns the validated body, or the error of the real service. */
export function parseRequest(
  request: IncomingMessage,
  raw: string,
  apiKey: string | undefined,
): { fault: RequestError; body?: undefined } | { fault: null; body: ChatRequest } {
  const fault = (status: number, message: string, code: string, param?: string) => ({
    fault: { status, message, code, ...(param ? { param } : {}) },
  });
  const given = request.headers.authorization;
  if (request.url?.split('?')[0] !== '/v1/chat/completions') {
    return fault(404, `Unknown request URL: ${request.method} ${request.url}.`, 'unknown_url');
  }
  if (request.method !== 'POST') return fault(405, `Not allowed to ${request.method} here.`, 'method_not_supported');
  if (apiKey !== undefined && given === undefined) return fault(401, "You didn't provide an API key.", 'missing_key');
  if (apiKey !== undefined && given !== `Bearer ${apiKey}`) {
    return fault(401, `Incorrect API key provided: ${given?.replace(/^Bearer /, '')}.`, 'invalid_api_key');
  }
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return fault(400, 'The content type must be application/json.', 'invalid_content_type');
  }
  let body: ChatRequest;
  try {
    body = JSON.parse(raw);
  } catch {
    return fault(400, 'We could not parse the JSON body of your request.', 'invalid_json');
  }
  const wrong = findWrongField(body);
  return wrong ? fault(400, `Invalid value for '${wrong}'.`, 'invalid_value', wrong) : { fault: null, body };
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];
const isCount = (value: unknown) => value === undefined || (Number.isInteger(value) && (value as number) >= 1);

function findWrongField(body: ChatRequest): string | null {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return 'body';
  if (typeof body.model !== 'string' || body.model === '') return 'model';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'messages';
  for (const [at, message] of body.messages.entries()) {
    if (!ROLES.includes(message?.role)) return `messages[${at}].role`;
    if (typeof message.content === 'string') continue;
    if (!Array.isArray(message.content) || !message.content.every(isPart)) return `messages[${at}].content`;
  }
  if (!isCount(body.max_tokens)) return 'max_tokens';
  if (!isCount(body.max_completion_tokens)) return 'max_completion_tokens';
  const { temperature } = body;
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2)) {
    return 'temperature';
  }
  if (!isCount(body.max_tool_calls) || Number(body.max_tool_calls ?? 1) > 30) return 'max_tool_calls';
  const { tools = [] } = body;
  if (!Array.isArray(tools) || !tools.every(isTool)) return 'tools';
  if (body.stream !== undefined && typeof body.stream !== 'boolean') return 'stream';
  return body.stream_options === undefined || body.stream === true ? null : 'stream_options';
}

/** Functions, and OpenRouter's own tools. */
const isTool = (tool: { type?: string; parameters?: { max_uses?: number } } | null) =>
  /^(?:function|openrouter:web_(?:search|fetch))$/.test(tool?.type ?? '') && isCount(tool?.parameters?.max_uses);

function isPart(part: Part): boolean {
  if (part?.type === 'text') return typeof part.text === 'string';
  if (part?.type === 'image_url') return /^(?:data:image\/|https?:)/.test(part.image_url?.url ?? '');
  return part?.type === 'file' && /^data:[\w.+-]+\/[\w.+-]+;base64,/.test(part.file?.file_data ?? '');
}

/** Sends an error in OpenAI's format. */
export function sendError(response: ServerResponse, { status, message, code, param }: RequestError): void {
  const error = { message, type: 'invalid_request_error', param: param ?? null, code };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}
