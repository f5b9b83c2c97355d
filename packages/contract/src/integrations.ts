import { type Static, Type } from '@sinclair/typebox';
import { ErrorBody, NotValidBody } from './envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { ref, strictObject } from './primitives.ts';

/** Sent in a header, so printable ASCII only. */
const credential = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1000, pattern: '^[\\x21-\\x7e]+$', description });

const common = {
  tags: ['integrations'],
  security: SIGNED_IN,
};
const integrationErrors = (rejected: string) => ({
  ...errorResponses(401, 403, 429),
  400: ref(NotValidBody, `${rejected}, or the request is invalid`),
  503: Type.Unsafe<Static<typeof NotValidBody> | Static<typeof ErrorBody>>({
    anyOf: [ref(NotValidBody), ref(ErrorBody)],
    description:
      'The tool could not be reached (`valid`), or the service is under maintenance or overloaded (`success`)',
  }),
});

export const ValidateNotesInput = strictObject({
  apiKey: credential('An integration secret or an OAuth token of Notion; it begins with `ntn_` or `secret_`'),
});
export type ValidateNotesInput = Static<typeof ValidateNotesInput>;

export const NotesWorkspace = Type.Object({
  name: Type.String(),
  owner: Type.String({ description: 'The person that the key belongs to, else the workspace' }),
  id: Type.String({
    description: 'The id of the workspace; if Notion does not return it, the id of the user of the key',
  }),
});
export type NotesWorkspace = Static<typeof NotesWorkspace>;

export const validateNotes = {
  ...common,
  operationId: 'validateNotes',
  summary: 'Validate a key of the notes tool',
  description: 'Looks up the workspace of the key at Notion. The key is neither stored nor logged.',
  body: ValidateNotesInput,
  response: {
    200: Type.Object({ valid: Type.Literal(true), workspace: NotesWorkspace }),
    ...integrationErrors('Notion rejects the key'),
  },
} satisfies Operation;

export const ValidateDesignInput = strictObject({
  token: credential('A personal token of Figma; it begins with `figd_`'),
});
export type ValidateDesignInput = Static<typeof ValidateDesignInput>;

export const DesignUser = Type.Object({ name: Type.String(), email: Type.String(), id: Type.String() });
export type DesignUser = Static<typeof DesignUser>;

export const validateDesign = {
  ...common,
  operationId: 'validateDesign',
  summary: 'Validate a token of the design tool',
  description:
    'Looks up the user of the token at Figma, which requires the scope `current_user:read`. The token is neither stored nor logged.',
  body: ValidateDesignInput,
  response: {
    200: Type.Object({ valid: Type.Literal(true), user: DesignUser }),
    ...integrationErrors('Figma rejects the token'),
  },
} satisfies Operation;
