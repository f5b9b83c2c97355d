import * as contract from '@carillon/contract/uploads';
import type { Routes } from '../http/validation.ts';
import { attachment } from '../storage/content-disposition.ts';
import { openFile } from './stored-file.ts';

/** The bytes under a key never change, and a browser that has them need not ask again for a day. */
const CACHE = 'private, max-age=86400, immutable';

/** Serves the files that are stored on disk; a browser saves them, and runs nothing of them (security T19). */
export const filesRoutes: Routes = async (app) => {
  app.get('/files/:key', { schema: contract.getFile, config: { access: 'public' } }, async ({ ctx, params }, reply) => {
    const { name, type, size, bytes } = await openFile(ctx, params.key);
    return reply
      .headers({
        'content-type': type,
        'content-length': size,
        'content-disposition': attachment(name),
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        // Pages of the web application show images, wherever it is.
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': CACHE,
      })
      .send(bytes);
  });
};
