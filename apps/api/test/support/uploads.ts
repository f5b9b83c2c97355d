import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { orphanedObjects, uploads, uploadTotals, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { Context } from '../../src/context.ts';
import type { Person } from './people.ts';

export const MIB = 1024 * 1024;

/** A part of a form; `headers` replaces those of name and type. */
export interface Part {
  field?: string;
  /** Null for a part without a file name. */
  name?: string | null;
  /** Null for a part without a type. */
  type?: string | null;
  headers?: string;
  content: string | Buffer;
}

export const BOUNDARY = '----carillon-7f3a';
export const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Builds a multipart body as browsers do. */
export function buildForm(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ field = 'file', name = 'notes.txt', type = null, headers, content }) => [
    `--${BOUNDARY}\r\n`,
    headers ??
      [
        `Content-Disposition: form-data; name="${field}"${name === null ? '' : `; filename="${name}"`}\r\n`,
        type === null ? '' : `Content-Type: ${type}\r\n`,
      ].join(''),
    '\r\n',
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

export const postForm = (app: FastifyInstance, { headers }: Pick<Person, 'headers'>, payload: Buffer | string) =>
  app.inject({ method: 'POST', url: '/api/upload', headers: { ...headers, ...FORM }, payload });

export const upload = (app: FastifyInstance, person: Pick<Person, 'headers'>, part: Part) =>
  postForm(app, person, buildForm(part));

export const deleteUpload = (app: FastifyInstance, { headers }: Pick<Person, 'headers'>, payload: object) =>
  app.inject({ method: 'DELETE', url: '/api/upload', headers, payload });

/** Uploads a file and returns its id. */
export const storeUpload = async (...given: Parameters<typeof upload>) =>
  String((await upload(...given)).headers['x-file-id']);

export const getDetails = (response: LightMyRequestResponse): Record<string, string[]> => response.json().details;

/** A user's rows and totals, and the orphaned and stored objects of all users. */
export async function readUploadState(ctx: Context, { id }: Pick<Person, 'id'>) {
  const { db } = ctx;
  const [total] = await db.select().from(uploadTotals).where(eq(uploadTotals.userId, id));
  return {
    rows: await db.$count(uploads, eq(uploads.userId, id)),
    loose: await db.$count(orphanedObjects),
    objects: listObjects(ctx).length,
    bytes: total?.bytes ?? 0,
    files: total?.files ?? 0,
  };
}

/** The paths of all objects on disk. */
function listObjects({ config: { storage } }: Context): string[] {
  if (storage.driver !== 'disk' || !existsSync(storage.folder)) return [];
  return readdirSync(storage.folder).map((name) => join(storage.folder, name));
}

/** Deletes all accounts and all files. */
export async function deleteAll(ctx: Context): Promise<void> {
  await ctx.db.delete(users);
  await ctx.db.delete(orphanedObjects);
  for (const path of listObjects(ctx)) rmSync(path);
}

export const NO_UPLOADS = { rows: 0, loose: 0, objects: 0, bytes: 0, files: 0 };

/** Sets the storage total of a user without a file. */
export async function setStorageUsed(
  { db }: Context,
  { id: userId }: Pick<Person, 'id'>,
  bytes: number,
): Promise<void> {
  const set = { bytes };
  await db
    .insert(uploadTotals)
    .values({ userId, ...set })
    .onConflictDoUpdate({ target: uploadTotals.userId, set });
}

const u16 = (...numbers: number[]) => Buffer.from(numbers.flatMap((number) => [number >> 8, number & 255]));

/** Images with a valid header, followed by random bytes. */
export const images = {
  png: (width = 640, height = 480) => {
    const header = Buffer.alloc(25);
    header.writeUInt32BE(13, 0);
    header.write('IHDR', 4, 'latin1');
    header.writeUInt32BE(width, 8);
    header.writeUInt32BE(height, 12);
    const chunk = (name: string, content: Buffer) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(content.length);
      return Buffer.concat([length, Buffer.from(name), content, Buffer.alloc(4)]);
    };
    const signature = Buffer.from('89504e470d0a1a0a', 'hex');
    return Buffer.concat([signature, header, chunk('IDAT', randomBytes(64)), chunk('IEND', Buffer.alloc(0))]);
  },
  /** `before`: bytes of other segments before the size. */
  jpeg: (width = 640, height = 480, before = 100) => {
    const segments: Buffer[] = [];
    for (let left = before; left > 0; left -= 60_000) {
      const content = Buffer.alloc(Math.min(left, 60_000), 0xff);
      segments.push(u16(0xffe1, content.length + 2), content);
    }
    const frame = Buffer.concat([u16(0xffc2, 17), Buffer.from([8]), u16(height, width), Buffer.alloc(10)]);
    return Buffer.concat([u16(0xffd8), ...segments, frame, randomBytes(64), u16(0xffd9)]);
  },
  gif: (width = 640, height = 480) => {
    const size = Buffer.alloc(4);
    size.writeUInt16LE(width, 0);
    size.writeUInt16LE(height, 2);
    return Buffer.concat([Buffer.from('GIF89a'), size, randomBytes(64)]);
  },
  webp: (width = 640, height = 480) => {
    const header = Buffer.alloc(30);
    header.write('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1');
    header.writeUIntLE(width - 1, 24, 3);
    header.writeUIntLE(height - 1, 27, 3);
    return Buffer.concat([header, randomBytes(64)]);
  },
};

export const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n');

export const buildText = (bytes: number) => Buffer.alloc(bytes, 'The bells ring on the hour.\n');
