import { type Static, Type } from '@sinclair/typebox';
import { BareErrorBody, QuotaErrorBody, success } from './envelopes.ts';
import { errorResponses, type Operation, PUBLIC, SIGNED_IN } from './operation.ts';
import { Instant, ref, strictObject, stringEnum, Uuid } from './primitives.ts';

export const STORAGES = ['blob', 'base64'] as const;

const common = { tags: ['uploads'], security: SIGNED_IN };

// Errors of the upload itself are `{error}` alone; errors that all routes share keep their form.
const bareError = (description: string) => ref(BareErrorBody, description);
const uploadErrors = {
  ...errorResponses(401, 429),
  500: bareError('Internal server error'),
};

export const UploadedFile = Type.Object(
  {
    url: Type.String({ description: 'The URL of the file; a data URL if `storage` is `base64`' }),
    name: Type.String(),
    size: Type.Integer({ description: 'Bytes' }),
    type: Type.String({
      description: 'MIME type: the declared one if it is accepted, or else the one of the extension',
    }),
    uploadedAt: Instant,
    storage: stringEnum(STORAGES),
  },
  { $id: 'Upload' },
);
export type UploadedFile = Static<typeof UploadedFile>;

export const createUpload = {
  ...common,
  operationId: 'createUpload',
  summary: 'Upload a file',
  description:
    'Stores one file of at most 10 MiB for use in tasks: JPEG, PNG, WebP, GIF, PDF, or text as `.txt`, `.md`, `.csv` or `.json`. The type is the declared one if it is accepted, or else the one of the extension. Content that is clearly of another type is refused; what is cut off or malformed is not. `X-File-Id` is the id of the file, for `DELETE` and `attachments`. A user can have 3 uploads in progress; another one is 429. Not idempotent, and without `Idempotency-Key`: sent twice, it creates two files.',
  consumes: ['multipart/form-data'],
  body: strictObject({
    file: Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'The file with its name' }),
  }),
  response: {
    200: ref(UploadedFile, 'The stored file'),
    ...uploadErrors,
    402: ref(QuotaErrorBody, 'The file does not fit into the remaining storage of the plan'),
    403: bareError('The API key does not have the scope, or a page of another site made the browser send the request'),
  },
} satisfies Operation;

export const DeleteUploadInput = strictObject(
  {
    url: Type.Optional(
      Type.String({ minLength: 1, description: 'The `url` of the record; a data URL is accepted too' }),
    ),
    id: Type.Optional(Uuid),
  },
  { description: 'Exactly one of `url` and `id`' },
);
export type DeleteUploadInput = Static<typeof DeleteUploadInput>;

export const deleteUpload = {
  ...common,
  operationId: 'deleteUpload',
  summary: 'Delete a file',
  description:
    "Deletes one of the caller's files. A task with the file attached keeps the reference, and its next run fails with `INVALID_REQUEST`. If several files have the same data URL, the newest is deleted.",
  body: DeleteUploadInput,
  response: {
    200: Type.Object({ success }),
    ...uploadErrors,
    403: bareError(
      'The file belongs to another user, the API key does not have the scope, or a page of another site made the browser send the request',
    ),
    404: bareError('The file does not exist'),
  },
} satisfies Operation;

export const getFile = {
  operationId: 'getFile',
  summary: 'Download an uploaded file',
  description:
    'Serves the `url` of an uploaded file. The URL cannot be guessed, and anyone who has it can read the file. The response is a download with the stored type. Only available if files are stored on disk.',
  tags: ['uploads'],
  security: PUBLIC,
  params: Type.Object({ key: Type.String() }),
  response: {
    200: Type.Unsafe<unknown>({
      description: 'The file',
      headers: {
        'Content-Disposition': { type: 'string', description: '`attachment` with the file name' },
      },
      content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
    }),
    ...errorResponses(404, 429),
  },
} satisfies Operation;
