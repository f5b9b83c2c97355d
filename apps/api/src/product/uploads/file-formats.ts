import { invalidField } from '../../errors.ts';

export interface FileFormat {
  mime: string;
  /** The stored object has the first one. */
  extensions: readonly string[];
  isText: boolean;
}

const PLAIN_TEXT: FileFormat = { mime: 'text/plain', extensions: ['txt'], isText: true };
const FILE_FORMATS: readonly FileFormat[] = [
  { mime: 'image/jpeg', extensions: ['jpg', 'jpeg'], isText: false },
  { mime: 'image/png', extensions: ['png'], isText: false },
  { mime: 'image/webp', extensions: ['webp'], isText: false },
  { mime: 'image/gif', extensions: ['gif'], isText: false },
  { mime: 'application/pdf', extensions: ['pdf'], isText: false },
  PLAIN_TEXT,
  { mime: 'text/markdown', extensions: ['md'], isText: true },
  { mime: 'text/csv', extensions: ['csv'], isText: true },
  { mime: 'application/json', extensions: ['json'], isText: true },
];

/** A download with such a name can be run or rendered, also if its type is accepted. */
const ACTIVE_EXTENSION = /^(?:exe|com|scr|msi|dll|bat|cmd|ps1|vbs|lnk|sh|app|apk|jar|m?js|hta|x?html?|svgz?|xml)$/;
const ACTIVE_TYPE = /^(?:text\/html|image\/svg\+xml|application\/(?:xhtml\+xml|x-msdownload)|\w+\/javascript)$/;

/** The declared type if it is accepted, else that of the extension. Throws 400 on `file`. */
export function getFileFormat(name: string, declared: string): FileFormat {
  const type = declared.toLowerCase();
  // Windows ignores dots at the end.
  const extension = /\.([^. ]*)[. ]*$/.exec(name)?.[1]?.toLowerCase();
  const isActive = ACTIVE_TYPE.test(type) || ACTIVE_EXTENSION.test(extension ?? '');
  const format = isActive ? undefined : findFormat(type, extension);
  if (format) return format;
  const known = FILE_FORMATS.flatMap(({ extensions }) => extensions).join(', ');
  throw invalidField('file', `must be a file of one of these kinds: ${known}`);
}

function findFormat(type: string, extension: string | undefined): FileFormat | undefined {
  const named = FILE_FORMATS.find(({ extensions }) => extensions.includes(extension ?? ''));
  // A form part without a type is `text/plain` (RFC 7578).
  if (type === PLAIN_TEXT.mime && named) return named.isText ? PLAIN_TEXT : named;
  const nameless = extension === undefined && type === 'application/octet-stream' ? PLAIN_TEXT : undefined;
  return FILE_FORMATS.find(({ mime }) => mime === type) ?? named ?? nameless;
}
