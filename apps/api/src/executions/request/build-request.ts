import type { ExecutionRequest } from '@carillon/db';
import { describeOutput } from '../output/instructions.ts';
import type { Candidate } from '../pipeline/select-runnable.ts';

/** Builds what the model is sent by an execution that starts at `now`. */
export function buildRequest({ prompt, aiModel, outputSchema }: Candidate, _now: Date): ExecutionRequest {
  return { system: outputSchema && describeOutput(outputSchema), prompt, model: aiModel };
}
