import type { TSchema } from '@sinclair/typebox';

/** One operation of the interface, in the shape that a Fastify route takes as its `schema`. */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  params?: TSchema;
  querystring?: TSchema;
  headers?: TSchema;
  /** Media types of the body; JSON unless told. */
  consumes?: string[];
  body?: TSchema;
  response: Record<number, TSchema>;
}

/** The `security` of each kind of access; the schemes are declared where the document is generated. */
export const PUBLIC: Record<string, string[]>[] = [];
export const SIGNED_IN: Record<string, string[]>[] = [{ cookie: [] }, { bearer: [] }];
export const ADMIN: Record<string, string[]>[] = [
  { cookie: [], adminKey: [] },
  { bearer: [], adminKey: [] },
];
export const CRON: Record<string, string[]>[] = [{ cron: [] }];
