import * as contract from '@carillon/contract/uploads';
import { AppError } from '../../errors.ts';
import { buildContentDisposition } from '../../lib/storage/disk.ts';
import { drainBody, openFile, registerFormParser } from '../../platform/http/multipart.ts';
import { LARGE_BODY_LIMIT } from '../../platform/http/server.ts';
import { type Routes, success } from '../../platform/http/validation.ts';
import { recordRejection } from '../../platform/limits/rejections.ts';
import { MAX_FILE_BYTES } from './inspect.ts';
import { openUpload } from './read.ts';
import { createUpload, deleteUpload } from './write.ts';

const config = { access: 'user', scope: 'uploads:write', shape: 'bare' } as const;
const CACHE_CONTROL = 'private, max-age=86400, immutable';

export const uploadsRoutes: Routes = async (app, { ctx }) => {
  app.register(formRoutes, { ctx });

  app.delete(
    '/api/upload',
    { schema: contract.deleteUpload, config, bodyLimit: LARGE_BODY_LIMIT },
    async ({ ctx, caller, body }) => {
      await deleteUpload(ctx, caller, body);
      return { success };
    },
  );
};

const formRoutes: Routes = async (app) => {
  await registerFormParser(app, MAX_FILE_BYTES);

  app.post(
    '/api/upload',
    {
      schema: contract.createUpload,
      config: { ...config, idempotency: false },
      // The form is validated while it is read.
      validatorCompiler: () => () => true,
      onSend: async (request, reply, payload) => {
        await drainBody(request, reply);
        return payload;
      },
    },
    async (request, reply) => {
      const { ctx, caller } = request;
      try {
        const { id, ...file } = await createUpload(ctx, caller, await openFile(request, 'file', MAX_FILE_BYTES));
        reply.header('x-file-id', id);
        return file;
      } catch (error) {
        if (error instanceof AppError && error.kind === 'rate_limited') {
          await recordRejection(ctx, 'uploads at once', { userId: caller.id, endpoint: 'POST /api/upload' });
        }
        throw error;
      }
    },
  );
};

export const filesRoutes: Routes = async (app) => {
  app.get('/files/:key', { schema: contract.getFile, config: { access: 'public' } }, async ({ ctx, params }, reply) => {
    const { name, type, size, bytes } = await openUpload(ctx, params.key);
    return reply
      .headers({
        'content-type': type,
        'content-length': size,
        'content-disposition': buildContentDisposition(name),
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        // The web application may have another origin.
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': CACHE_CONTROL,
      })
      .send(bytes);
  });
};
