import { invalidField } from '../errors.ts';

export interface FileFormat {
  mime: string;
  /** The stored object has the first one. */
  extensions: readonly string[];
  synonyms: readonly string[];
  content: 'image' | 'pdf' | 'text' | 'json';
}

const FILE_FORMATS: readonly FileFormat[] = [
  { mime: 'image/jpeg', extensions: ['jpg', 'jpeg'], synonyms: ['image/jpg', 'image/pjpeg'], content: 'image' },
  { mime: 'image/png', extensions: ['png'], synonyms: ['image/x-png', 'image/apng'], content: 'image' },
  { mime: 'image/webp', extensions: ['webp'], synonyms: [], content: 'image' },
  { mime: 'image/gif', extensions: ['gif'], synonyms: [], content: 'image' },
  { mime: 'application/pdf', extensions: ['pdf'], synonyms: ['application/x-pdf'], content: 'pdf' },
  { mime: 'text/plain', extensions: ['txt'], synonyms: [], content: 'text' },
  { mime: 'text/markdown', extensions: ['md'], synonyms: ['text/x-markdown'], content: 'text' },
  {
    mime: 'text/csv',
    extensions: ['csv'],
    // Browsers on Windows with Excel declare the last one.
    synonyms: ['application/csv', 'text/comma-separated-values', 'application/vnd.ms-excel'],
    content: 'text',
  },
  { mime: 'application/json', extensions: ['json'], synonyms: ['text/json'], content: 'json' },
];

/** Sent by clients that do not know the type; RFC 7578 defaults to `text/plain`. */
const UNKNOWN_TYPES = ['application/octet-stream', 'text/plain'];

/** Throws 400 on `file` for an unknown extension or another declared type. */
export function getFileFormat(name: string, declared: string): FileFormat {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const format = FILE_FORMATS.find(({ extensions }) => extensions.includes(extension));
  if (!format) {
    const known = FILE_FORMATS.flatMap(({ extensions }) => extensions).join(', ');
    throw invalidField('file', `must be a file of one of these kinds: ${known}`);
  }
  const accepted = [format.mime, ...format.synonyms, ...UNKNOWN_TYPES];
  if (!accepted.includes(declared.toLowerCase())) {
    throw invalidField('file', `is declared to be of another type than .${extension}`);
  }
  return format;
}
