import { type Environment, readVariable } from './read.ts';

/** For how many days what is over is kept; 0 is for ever. */
export function readRetention(env: Environment) {
  return {
    executionsDays: readVariable(env, 'RETENTION_EXECUTIONS_DAYS'),
    occurrencesDays: readVariable(env, 'RETENTION_OCCURRENCES_DAYS'),
    deliveriesDays: readVariable(env, 'RETENTION_DELIVERIES_DAYS'),
    auditDays: readVariable(env, 'RETENTION_AUDIT_DAYS'),
    filesDays: readVariable(env, 'RETENTION_FILES_DAYS'),
  };
}
