import { type Static, Type } from '@sinclair/typebox';
import { BareErrorBody, QuotaErrorBody, success } from './envelopes.ts';
import { BareOrValidationErrorBody, errorResponses, type Operation, PUBLIC, SIGNED_IN } from './operation.ts';
import { Id, Instant, ref, strictObject, stringEnum, Uuid } from './primitives.ts';

/** Specification "Uploads"; decisions §11. */

export const STORAGES = ['blob', 'base64'] as const;

const common = { tags: ['uploads'], security: SIGNED_IN };

/** What refuses the upload itself is `{error}`; what all routes share keeps its own form. */
const refused = (description: string) => ref(BareErrorBody, description);
const refusals = {
  ...errorResponses(401, 429),
  400: BareOrValidationErrorBody,
  500: refused('Internal server error'),
};

/** Specification "Uploaded file record", with the `id` of decisions §11. */
export const UploadedFile = Type.Object({
  id: Type.String(),
  url: Type.String({ description: 'Where the file is stored, or a data URL when `storage` is `base64`' }),
  name: Type.String(),
  size: Type.Integer({ description: 'Bytes' }),
  type: Type.String({ description: 'MIME type, by the content and the extension' }),
  uploadedAt: Instant,
  storage: stringEnum(STORAGES),
});
export type UploadedFile = Static<typeof UploadedFile>;

export const createUpload = {
  ...common,
  operationId: 'createUpload',
  summary: 'Upload a file for use in tasks',
  description:
    'One file of at most 10 MiB: JPEG, PNG, WebP or GIF of at most 50 megapixels, PDF, or UTF-8 text as `.txt`, `.md`, `.csv` or `.json`. Content, extension and declared type have to agree. 429 also while 3 uploads of the user are under way. Sent twice, it makes two files.',
  consumes: ['multipart/form-data'],
  body: strictObject({
    file: Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'The file, with its name' }),
  }),
  response: {
    200: UploadedFile,
    ...refusals,
    402: ref(QuotaErrorBody, 'The file does not fit into what is left of the storage of the plan'),
    403: refused('A page of another site made the browser send this'),
  },
} satisfies Operation;

export const DeleteUploadInput = strictObject(
  {
    url: Type.Optional(Type.String({ minLength: 1, description: 'The `url` of the record, a data URL too' })),
    id: Type.Optional(Uuid),
  },
  { description: 'Exactly one of `url` and `id`' },
);
export type DeleteUploadInput = Static<typeof DeleteUploadInput>;

export const deleteUpload = {
  ...common,
  operationId: 'deleteUpload',
  summary: 'Delete an uploaded file',
  description:
    "Only its owner may. A task that has the file attached keeps its id, and its next run fails with `INVALID_REQUEST`: `tasks` names the caller's tasks that do, the first 100 by id. Of several files with the same data URL the newest is deleted.",
  body: DeleteUploadInput,
  response: {
    200: Type.Object({
      success,
      tasks: Type.Array(Type.Object({ id: Id, name: Type.String() }), {
        description: 'Tasks that have the file attached',
      }),
    }),
    ...refusals,
    403: refused('It is not your file, or a page of another site made the browser send this'),
    404: refused('There is no such file'),
  },
} satisfies Operation;

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
    ...errorResponses(404, 429),
  },
} satisfies Operation;
