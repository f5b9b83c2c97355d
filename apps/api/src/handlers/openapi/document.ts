/** The part of an OpenAPI document that this folder completes. */
export interface Document {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components?: Record<string, Record<string, object> | undefined>;
}

export interface Operation {
  operationId?: string;
  tags?: string[];
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses?: Record<string, Response>;
  /** What an API key needs. */
  'x-scope'?: string;
  'x-rate-limit'?: { limit: number; windowSeconds: number; scope: string };
}

export interface Parameter {
  name: string;
  in: string;
  description?: string;
  example?: unknown;
}

export interface Response {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, Media>;
}

export interface Media {
  schema?: { $ref?: string; type?: string | string[]; anyOf?: { $ref?: string }[] };
  example?: unknown;
  examples?: Record<string, object>;
}

/** An operation with its path and method. */
export interface Endpoint {
  path: string;
  method: string;
  operation: Operation;
}

export const listEndpoints = ({ paths = {} }: Pick<Document, 'paths'>): Endpoint[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Who may call an operation, derived from its security schemes. */
export function getAccess({ security = [] }: Operation): 'public' | 'user' | 'admin' | 'cron' {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  if (schemes.length === 0) return 'public';
  if (schemes.includes('cron')) return 'cron';
  return schemes.includes('adminKey') ? 'admin' : 'user';
}

export function addComponents(document: Document, kind: string, components: Record<string, object>): void {
  document.components = { ...document.components, [kind]: { ...document.components?.[kind], ...components } };
}

/** Marks nullable bodies as optional; @fastify/swagger marks every body as required. */
export function markOptionalBodies(document: Document): void {
  for (const { operation } of listEndpoints(document)) {
    const { requestBody } = operation;
    const [media] = Object.values(requestBody?.content ?? {});
    if (requestBody && [media?.schema?.type].flat().includes('null')) requestBody.required = false;
  }
}
