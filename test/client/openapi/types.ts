import createClient from 'openapi-fetch';
import type { components, operations, paths } from './api.ts';

/* Assertions about the types of a generated client, checked by the compiler; nothing here runs. */

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Schemas = components['schemas'];
type Answer<Id extends keyof operations, Status extends number> = operations[Id] extends {
  responses: { [S in Status]: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

type Body<Id extends keyof operations> = undefined extends operations[Id]['requestBody']
  ? operations[Id]['requestBody'] extends undefined
    ? 'none'
    : 'optional'
  : 'required';

/** Null is kept, and required fields are not optional. */
export const nullable: [
  Same<Schemas['Task']['nextExecutionAt'], string | null>,
  Same<Schemas['Task']['lastExecutionAt'], string | null>,
  Same<Schemas['Task']['attachments'], string[]>,
  Same<Schemas['TaskExecution']['tokensUsed'], number | null>,
  Same<Schemas['TaskExecution']['result'], string | null>,
  Same<Schemas['User']['timezone'], string | null>,
  Same<Schemas['DeliveryAttempt']['statusCode'], number | null>,
  Same<Schemas['QuotaError']['details']['resetAt'], string | null>,
  Same<Answer<'listTasks', 200>['pagination']['nextCursor'], string | null>,
] = [true, true, true, true, true, true, true, true, true];

/** Enums are kept. */
export const enums: [
  Same<Schemas['Task']['status'], 'active' | 'paused' | 'completed' | 'failed'>,
  Same<Schemas['TaskExecution']['status'], 'pending' | 'running' | 'completed' | 'failed'>,
  Same<Schemas['User']['role'], 'USER' | 'ADMIN'>,
  Same<Answer<'createUpload', 200>['storage'], 'blob' | 'base64'>,
  Same<Answer<'executeTask', 201>['status'], 'pending'>,
  Same<Answer<'getSession', 401>, { authenticated: false }>,
] = [true, true, true, true, true, true];

/** Required bodies are required. */
export const bodies: [
  Same<Body<'login'>, 'required'>,
  Same<Body<'createTask'>, 'required'>,
  Same<Body<'duplicateTask'>, 'optional'>,
  Same<Body<'executeTask'>, 'none'>,
] = [true, true, true, true];

/** Each error has the body of its status. */
export const refusals: [
  Same<Answer<'createTask', 400>, Schemas['ValidationError']>,
  Same<Answer<'createTask', 402>, Schemas['QuotaError']>,
  Same<Answer<'createTask', 429>, Schemas['RateLimitError']>,
  Same<Answer<'createTask', 503>, Schemas['ErrorResponse']>,
  Same<Answer<'deleteUpload', 403>, Schemas['BareError']>,
  Same<Answer<'validateNotes', 400>, Schemas['NotValid']>,
] = [true, true, true, true, true, true];

/** Required request fields, and enums. */
export function misuse() {
  const api = createClient<paths, 'application/json'>();
  // @ts-expect-error a path parameter is missing
  api.GET('/api/tasks/{id}');
  // @ts-expect-error the password is missing
  api.POST('/api/auth/login', { body: { email: 'alice@example.com' } });
  // @ts-expect-error the body is missing
  api.POST('/api/auth/register');
  // @ts-expect-error a name may not be null
  api.PATCH('/api/user', { body: { name: null } });
  // @ts-expect-error an event that there is not
  api.POST('/api/webhooks', { body: { url: 'https://example.com', events: ['task.slept'] } });
  // A body that may be left out, and one that clears a field.
  api.POST('/api/tasks/{id}/duplicate', { params: { path: { id: 1 } } });
  api.PATCH('/api/user', { body: { timezone: null } });
}
