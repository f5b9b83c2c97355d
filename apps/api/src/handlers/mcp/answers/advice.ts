import { AppError, type ErrorKind } from '../../../errors.ts';

/** What an assistant can do about a refusal: by its kind, or by the wrong argument. */
type Advice = { [K in ErrorKind]?: string } & Record<string, string>;

/** Adds advice to the refusals of `work`. */
export async function withAdvice<T>(advice: Advice, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AppError ? advise(error, advice) : error;
  }
}

function advise({ kind, message, details, retryAfterSeconds }: AppError, advice: Advice): AppError {
  const hint = advice[kind];
  const said = hint === undefined ? message : `${message.replace(/\.$/, '')}. ${hint}.`;
  const shown = kind === 'invalid' ? adviseFields(details as Record<string, string[]> | undefined, advice) : details;
  return new AppError(kind, said, shown, retryAfterSeconds);
}

/** `context.clock` is a part of the argument `context`. */
const adviseFields = (details: Record<string, string[]> = {}, advice: Advice) =>
  Object.fromEntries(
    Object.entries(details).map(([field, problems]) => {
      const hint = advice[field.split('.')[0] ?? ''];
      return [field, hint === undefined ? problems : [...problems, hint]];
    }),
  );
