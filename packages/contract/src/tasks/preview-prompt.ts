import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from '../operation.ts';
import { Id, nullable, strictObject, TimeZone } from '../primitives.ts';
import { Prompt } from '../tasks.ts';
import { RunContextInput } from './run-settings.ts';

export const PreviewPromptInput = strictObject({
  prompt: Prompt,
  context: Type.Optional({ ...RunContextInput, description: "Default: the task's context, or the clock alone" }),
  taskId: Type.Optional({ ...Id, description: 'The task whose name, time zone and last success are used' }),
  timezone: Type.Optional({ ...TimeZone, description: 'Default: the time zone of the task or the caller, or UTC' }),
});
export type PreviewPromptInput = Static<typeof PreviewPromptInput>;

export const previewPrompt = {
  tags: ['tasks'],
  security: SIGNED_IN,
  operationId: 'previewPrompt',
  summary: 'Preview what the model is sent',
  description:
    'Runs and stores nothing. Returns the system message and the prompt, with its variables replaced, as a planned run that starts now would send them. Without a `taskId` it is a task without earlier runs.',
  body: PreviewPromptInput,
  response: {
    200: Type.Object({
      success,
      system: nullable(Type.String({ description: 'The system message; null without one' })),
      prompt: Type.String({ description: 'The prompt with its variables replaced' }),
    }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
