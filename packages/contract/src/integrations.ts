import { type Static, Type } from '@sinclair/typebox';
import { NotValidBody } from './envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { ref, strictObject } from './primitives.ts';

/** Specification "Integration checks"; decisions §11. */

/** What a header can hold; no tool gives out anything else. */
const credential = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1000, pattern: '^[\\x21-\\x7e]+$', description });

const common = {
  tags: ['integrations'],
  security: SIGNED_IN,
};
const refused = (what: string) => ({
  ...errorResponses(401, 403, 429),
  400: ref(NotValidBody, `${what}, or the request is not valid`),
  503: ref(NotValidBody, 'The tool could not be asked, or the service is in maintenance or overloaded'),
});

export const ValidateNotesInput = strictObject({ apiKey: credential('An integration secret or a token of Notion') });
export type ValidateNotesInput = Static<typeof ValidateNotesInput>;

export const NotesWorkspace = Type.Object({
  name: Type.String(),
  owner: Type.String({ description: 'The person that the key acts for, else the workspace' }),
  id: Type.String({ description: 'Of the workspace; where Notion does not tell it, of the user behind the key' }),
});
export type NotesWorkspace = Static<typeof NotesWorkspace>;

export const validateNotes = {
  ...common,
  operationId: 'validateNotes',
  summary: 'Whether a key of the notes tool works',
  description: 'Asks Notion whose key it is. The key is neither stored nor logged.',
  body: ValidateNotesInput,
  response: {
    200: Type.Object({ valid: Type.Literal(true), workspace: NotesWorkspace }),
    ...refused('Notion refuses the key'),
  },
} satisfies Operation;

export const ValidateDesignInput = strictObject({ token: credential('A personal or an OAuth token of Figma') });
export type ValidateDesignInput = Static<typeof ValidateDesignInput>;

export const DesignUser = Type.Object({ name: Type.String(), email: Type.String(), id: Type.String() });
export type DesignUser = Static<typeof DesignUser>;

export const validateDesign = {
  ...common,
  operationId: 'validateDesign',
  summary: 'Whether a token of the design tool works',
  description:
    'Asks Figma whose token it is, for which the token needs the scope `current_user:read`. It is neither stored nor logged.',
  body: ValidateDesignInput,
  response: {
    200: Type.Object({ valid: Type.Literal(true), user: DesignUser }),
    ...refused('Figma refuses the token'),
  },
} satisfies Operation;
