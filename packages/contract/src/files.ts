import { Type } from '@sinclair/typebox';
import { errors } from './envelopes.ts';
import { type Operation, PUBLIC } from './operation.ts';

/** Not in the specification: where `STORAGE_DRIVER` is `disk`, the address of an uploaded file leads here. */
export const getFile = {
  operationId: 'getFile',
  summary: 'The bytes of an uploaded file',
  description:
    'The address is the `url` of an uploaded file record, and whoever knows it may read the file: it cannot be guessed. Answered as a download of the type that the record has. There only where files are stored on disk.',
  tags: ['uploads'],
  security: PUBLIC,
  params: Type.Object({ key: Type.String() }),
  response: {
    200: Type.Unsafe<unknown>({
      description: 'The file',
      headers: {
        'Content-Disposition': { type: 'string', description: '`attachment`, with the name of the file' },
      },
      content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
    }),
    ...errors(404, 429),
  },
} satisfies Operation;
