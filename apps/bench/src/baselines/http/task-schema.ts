const date = { type: ['string', 'null'], format: 'date-time' };
const text = { type: ['string', 'null'] };
const integer = { type: 'integer' };

const task = {
  type: 'object',
  properties: {
    id: integer,
    userId: integer,
    name: text,
    description: text,
    prompt: text,
    scheduledFor: date,
    nextExecutionAt: date,
    recurrence: text,
    recurrencePattern: text,
    timezone: text,
    aiModel: text,
    maxTokens: integer,
    temperature: integer,
    status: text,
    executionCount: integer,
    lastExecutionAt: date,
    attachments: { type: 'array', items: { type: 'string' } },
    createdAt: date,
    updatedAt: date,
  },
};

/** Compiled to a serializer by Fastify. */
export const taskResponse = { type: 'object', properties: { success: { type: 'boolean' }, task } };
