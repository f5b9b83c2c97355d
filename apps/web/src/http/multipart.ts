import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Dashboard, unwrap } from '../page.ts';
import { askForSignIn } from './routes.ts';
import { MAX_FIELD_BYTES, type SentFile, setFiles, takeKeptFiles } from './sent-files.ts';

const MIB = 1024 * 1024;
/** As the service accepts them. The files of a form are in memory until they are stored. */
const MAX_FILE_BYTES = 10 * MIB;
const MAX_FORM_BYTES = 20 * MIB;
const MAX_FILES = 100;
const MAX_FIELDS = 200;
/** What mail programs send has one short field. */
const ONE_CLICK_LIMITS = { files: 0, fields: 4, fieldSize: 100 };

/** What is kept of a form without a session. */
const isShortForm = ({ headers, routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.keepsValues === true && Number(headers['content-length'] ?? Number.NaN) <= MAX_FIELD_BYTES;

/** Reads forms with files before the token of the form is checked: of signed-in users, and short ones that are kept. */
export async function acceptFiles(app: FastifyInstance, dashboard: Dashboard): Promise<void> {
  await app.register(multipart, {
    limits: { fileSize: MAX_FILE_BYTES + 1, files: MAX_FILES, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES },
    throwFileSizeLimit: false,
  });
  // The page asks for the session again: it may end while a long form is read.
  app.addHook('preValidation', async (request, reply) => {
    if (!request.isMultipart()) return;
    if (request.routeOptions.config.isOneClick) {
      request.body = await readParts(request, ONE_CLICK_LIMITS).catch(refuse);
      return;
    }
    const token = dashboard.readSession(request.headers.cookie);
    const result = await dashboard.actions.openSession(token, { address: request.ip });
    if (!result.success && result.code === 'AUTH_REQUIRED') {
      if (!isShortForm(request)) return askForSignIn(dashboard, request, reply);
      request.body = await readParts(request).catch(refuse);
      return;
    }
    unwrap(result);
    request.body = await readParts(request).catch(refuse);
  });
}

/** A form that is cut or malformed is a fault of its sender. */
function refuse(error: Error): never {
  throw Object.assign(error, { statusCode: 400 });
}

async function readParts(request: FastifyRequest, limits = {}): Promise<Record<string, string | string[]>> {
  const fields = new Map<string, string[]>();
  const files: SentFile[] = [];
  setFiles(request, files);
  let left = MAX_FORM_BYTES;
  for await (const part of request.parts({ limits })) {
    if (part.type === 'field') fields.set(part.fieldname, [...(fields.get(part.fieldname) ?? []), String(part.value)]);
    else {
      const bytes = await readFile(part, left);
      if (part.filename === '' || part.filename === undefined) continue;
      files.push({ name: unescapeName(part.filename), type: part.mimetype, bytes });
      left -= bytes?.length ?? 0;
    }
  }
  files.push(...takeKeptFiles(fields));
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]));
}

/** Browsers escape these characters. */
const unescapeName = (name: string) => name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');

/** Reads on beyond the limit, because the fields behind it count. */
async function readFile({ file }: MultipartFile, left: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of file as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= Math.min(left, MAX_FILE_BYTES)) chunks.push(chunk);
    else chunks.length = 0;
  }
  return length > Math.min(left, MAX_FILE_BYTES) ? null : Buffer.concat(chunks);
}
