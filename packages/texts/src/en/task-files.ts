import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

/** The page that exports and imports tasks. */
export const taskFiles = {
  title: 'Import and export',
  subtitle: 'Your tasks as a file, for a Git repository or another installation.',
  setting: 'Tasks as a file',
  settingHint: 'Export all tasks, or create and change them from a file.',
  export: 'Export',
  exportText: 'All tasks in YAML, without secrets.',
  download: 'Download tasks',
  import: 'Import',
  importText:
    'The file says how tasks should be, each by its externalId. You see what changes before anything does. New tasks are paused, unless the file says active.',
  file: 'File (YAML or JSONL)',
  text: 'Or its text',
  prune: 'Delete tasks of earlier imports that the file lacks',
  preview: 'Preview',
  more: <P>(code: (text: string) => P) =>
    parts`A file may have 512 KB here. The command ${code('carillon tasks')} takes more, and fits Git.`,
  noFile: 'Choose a file, or paste its text.',
  tooLong: 'The file has more than 512 KB: use the command.',
  notText: 'The file is not text in UTF-8.',
  previewTitle: 'Preview of the import',
  created: (tasks: number) => `${count(tasks, 'task', 'tasks')} to create`,
  updated: (tasks: number) => `${count(tasks, 'task', 'tasks')} to change`,
  deleted: (tasks: number) => `${count(tasks, 'task', 'tasks')} to delete`,
  unchanged: (tasks: number) => `${count(tasks, 'task', 'tasks')} unchanged`,
  nothing: 'All tasks are as the file says.',
  task: 'Task',
  nextRuns: 'Next runs',
  noRuns: 'none',
  apply: 'Apply',
  done: (created: number, updated: number, deleted: number) =>
    `Imported: ${created} created, ${updated} changed, ${deleted} deleted.`,
  problems: (errors: number) => `${count(errors, 'problem', 'problems')} in the file: nothing was changed`,
  place: 'Line and field',
  line: (line: number) => `Line ${line}`,
  problem: 'Problem',
};
