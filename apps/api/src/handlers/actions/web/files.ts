import { getFile, listFiles } from '../../../product/uploads/list.ts';
import { deleteUpload } from '../../../product/uploads/write.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const fileActions = ({ signedIn }: WebActionBuilder) => ({
  listFiles: signedIn('listFiles', async ({ ctx, caller }, input) => listFiles(ctx, caller, input)),

  getFile: signedIn('getFile', async ({ ctx, caller }, { id }) => getFile(ctx, caller, id)),

  deleteFile: signedIn(
    'deleteFile',
    async ({ ctx, caller }, { id }) => {
      const { name } = await getFile(ctx, caller, id);
      return { name, tasks: await deleteUpload(ctx, caller, { id }) };
    },
    { as: 'DELETE /api/upload' },
  ),
});
