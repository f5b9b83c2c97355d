import type { ExecutionRequest } from '@carillon/db';
import type { Candidate } from '../pipeline/select-runnable.ts';

/** Builds what the model is sent by an execution that starts at `now`. */
export function buildRequest({ prompt, aiModel }: Candidate, _now: Date): ExecutionRequest {
  return { system: null, prompt, model: aiModel };
}
