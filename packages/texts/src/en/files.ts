import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

export const files = {
  title: 'Files',
  subtitle: 'Images, PDFs and texts that tasks send with their prompt.',
  stored: 'Stored files',
  empty: 'No files yet. Add one, then attach it to a task.',
  noOlder: 'No older files.',
  onPage: (files: number) => `${count(files, 'file', 'files')} on this page`,
  name: 'Name',
  size: 'Size',
  uploaded: 'Uploaded',
  usedBy: 'Used by',
  noTask: 'no task',
  andMore: ' and more',
  types: {
    'image/jpeg': 'JPEG image',
    'image/png': 'PNG image',
    'image/webp': 'WebP image',
    'image/gif': 'GIF image',
    'application/pdf': 'PDF',
    'text/plain': 'text',
    'text/markdown': 'Markdown',
    'text/csv': 'CSV table',
    'application/json': 'JSON',
  },
  preview: 'preview',
  previewOf: (name: string) => `of ${name}`,
  noPreview: 'No preview available.',
  download: 'Download',

  add: 'Add files',
  addHint: 'Images, PDFs, text, CSV or JSON: up to 10 MB each, 20 MB in total.',
  chooseOne: 'Choose at least one file',
  added: (files: number) => `${count(files, 'file is', 'files are')} stored.`,
  tooLarge: (name: string) => `${name} is too large: up to 10 MB per file and 20 MB in total`,
  notStored: (name: string, reason: string) => `${name} is not stored: ${reason}`,
  tooMany: (wait: string) => `too many files at once, try again in ${wait}`,
  storage: 'Storage',
  usedByFiles: (files: number) => `Used by ${count(files, 'file', 'files')}`,
  usedStorage: 'Used storage',
  usedOf: (used: string, limit: string) => `${used} of ${limit}`,
  ofPlan: (limit: string) => `of ${limit} in your plan`,

  deleteTitle: 'Delete this file?',
  attachedTo: <P>(tasks: P) => parts`Attached to ${tasks}.`,
  breaksRuns: (tasks: number): string =>
    tasks === 1
      ? 'Its next run fails until you change its attachments.'
      : 'Their next runs fail until you change their attachments.',
  notAttached: 'No task uses it.',
  cannotUndo: 'This cannot be undone.',
  deleteFile: 'Delete file',
  deleted: (name: string, tasks: number) =>
    tasks === 0 ? `${name} is deleted.` : `${name} is deleted. ${count(tasks, 'task', 'tasks')} used it.`,
};
