import * as contract from '@carillon/contract/uploads';
import { AppError } from '../errors.ts';
import { drainBody, openFile, readForms } from '../http/multipart.ts';
import { LARGE_BODY_LIMIT } from '../http/server.ts';
import type { Routes } from '../http/validation.ts';
import { recordRejection } from '../limits/rejections.ts';
import { deleteUpload } from './delete.ts';
import { MAX_FILE_BYTES } from './inspect.ts';
import { createUpload } from './write.ts';

const config = { access: 'user', shape: 'bare' } as const;

/** Specification "Uploads"; decisions §11. */
export const uploadsRoutes: Routes = async (app, { ctx }) => {
  app.register(formRoutes, { ctx });

  app.delete(
    '/api/upload',
    { schema: contract.deleteUpload, config, bodyLimit: LARGE_BODY_LIMIT },
    async ({ ctx, caller, body }) => ({ success: true as const, tasks: await deleteUpload(ctx, caller, body) }),
  );
};

/** Apart, since it takes forms instead of JSON. */
const formRoutes: Routes = async (app) => {
  await readForms(app, MAX_FILE_BYTES);

  app.post(
    '/api/upload',
    {
      schema: contract.createUpload,
      config,
      // The schema is for the document: a form is read as it comes, and held to its rules on the way.
      validatorCompiler: () => () => true,
      onSend: async (request, reply, payload) => {
        await drainBody(request, reply);
        return payload;
      },
    },
    async (request) => {
      const { ctx, caller } = request;
      try {
        return await createUpload(ctx, caller, await openFile(request, 'file', MAX_FILE_BYTES));
      } catch (error) {
        if (error instanceof AppError && error.kind === 'rate_limited') {
          await recordRejection(ctx, 'uploads at once', { userId: caller.id, endpoint: 'POST /api/upload' });
        }
        throw error;
      }
    },
  );
};
