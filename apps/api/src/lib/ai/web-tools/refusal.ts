import { type AiError, createError } from '../errors.ts';
import type { AiRequest } from '../request.ts';

const MAX_MESSAGE = 500;
const NAMES_TOOLS = /\btools?\b|tool_(?:call|choice|use)|web[ _-]?(?:search|fetch)|function[ _-]?call/i;

const ADVICE = 'choose another model, or take the tools off the task';

/** Names the tools in the error of a provider that does not let a model use them. */
export function explainRefusal(error: AiError, { tools = [] }: AiRequest): AiError {
  const mayBeRefusal = error.errorCode === 'INVALID_REQUEST' || error.errorCode === 'AUTHENTICATION_FAILED';
  if (tools.length === 0 || !mayBeRefusal || !NAMES_TOOLS.test(error.message)) return error;
  const message = `The tools ${listTools(tools)} were refused: ${ADVICE}. ${error.message}`;
  return createError('INVALID_REQUEST', message.slice(0, MAX_MESSAGE).toWellFormed(), error.sent);
}

/** For a model whose service has none, or not all, of the tools. */
export const lackOfTools = (missing: NonNullable<AiRequest['tools']>): AiError =>
  createError(
    'INVALID_REQUEST',
    `The provider of this model does not have the tools ${listTools(missing)}: ${ADVICE}.`,
  );

/** For a service that takes the tools for functions of ours. */
export const toolsHandedBack = ({ tools = [] }: AiRequest): AiError =>
  createError('INVALID_REQUEST', `The provider does not run the tools ${listTools(tools)} itself: ${ADVICE}.`);

const listTools = (tools: readonly string[]) => tools.join(' and ');
