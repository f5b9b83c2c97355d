import type { PageRoutes } from '../../http/routes.ts';
import { askToDelete, deleteFile } from './delete.ts';
import { addFiles, showFiles } from './list.ts';
import { showPreview } from './preview.ts';

export function filePages({ user }: PageRoutes): void {
  user('GET', '/files', showFiles);
  user('POST', '/files', addFiles);
  user('GET', '/files/:id/preview', showPreview);
  user('GET', '/files/:id/delete', askToDelete);
  user('POST', '/files/:id/delete', deleteFile);
}
