import type { FileError } from '@carillon/contract/tasks/files';
import { AppError, ERROR_MESSAGES } from '../../../errors.ts';

/** Something at a line of a file; `field` is `file` for what is no task. */
export class FileProblem extends Error {
  readonly line: number;
  readonly field: string;

  constructor(line: number, message: string, field = 'file') {
    super(message);
    this.line = line;
    this.field = field;
  }
}

export const toFileError = ({ line, field, message }: FileProblem): FileError => ({ line, field, message });

export const invalidFile = (errors: FileError[]) =>
  new AppError('invalid', ERROR_MESSAGES.invalid, undefined, undefined, errors);
