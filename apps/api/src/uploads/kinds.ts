import { invalidField } from '../errors.ts';

/** Specification "Uploads": what may be uploaded, and how it is recognised. */
export interface Kind {
  /** The MIME type that is stored and served. */
  type: string;
  /** The first one is that of the stored object. */
  extensions: readonly string[];
  /** Other types that clients declare for it. */
  alsoDeclared: readonly string[];
  content: 'image' | 'pdf' | 'text' | 'json';
}

const KINDS: readonly Kind[] = [
  {
    type: 'image/jpeg',
    extensions: ['jpg', 'jpeg'],
    alsoDeclared: ['image/jpg', 'image/pjpeg'],
    content: 'image',
  },
  { type: 'image/png', extensions: ['png'], alsoDeclared: ['image/x-png', 'image/apng'], content: 'image' },
  { type: 'image/webp', extensions: ['webp'], alsoDeclared: [], content: 'image' },
  { type: 'image/gif', extensions: ['gif'], alsoDeclared: [], content: 'image' },
  { type: 'application/pdf', extensions: ['pdf'], alsoDeclared: ['application/x-pdf'], content: 'pdf' },
  { type: 'text/plain', extensions: ['txt'], alsoDeclared: [], content: 'text' },
  { type: 'text/markdown', extensions: ['md'], alsoDeclared: ['text/x-markdown'], content: 'text' },
  {
    type: 'text/csv',
    extensions: ['csv'],
    // The last one is what browsers on Windows say where Excel is installed.
    alsoDeclared: ['application/csv', 'text/comma-separated-values', 'application/vnd.ms-excel'],
    content: 'text',
  },
  { type: 'application/json', extensions: ['json'], alsoDeclared: ['text/json'], content: 'json' },
];

/** What a client says that does not know: the second one is also that of a part without a type (RFC 7578). */
const UNTOLD = ['application/octet-stream', 'text/plain'];

/** The kind of a file by its name and the type that the client declares; 400 on `file` when there is none. */
export function kindOf(name: string, declared: string): Kind {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const kind = KINDS.find(({ extensions }) => extensions.includes(extension));
  if (!kind) {
    const known = KINDS.flatMap(({ extensions }) => extensions).join(', ');
    throw invalidField('file', `must be a file of one of these kinds: ${known}`);
  }
  const said = declared.toLowerCase();
  if (said !== kind.type && !UNTOLD.includes(said) && !kind.alsoDeclared.includes(said)) {
    throw invalidField('file', `is declared to be of another type than .${extension}`);
  }
  return kind;
}
