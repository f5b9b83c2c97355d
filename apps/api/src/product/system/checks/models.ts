import { type Db, listedModels } from '@carillon/db';
import { isNotNull } from 'drizzle-orm';
import { type Finding, findingsFor } from './finding.ts';

const { warning } = findingsFor('AI provider');

/** The models in use that are gone from the list of their provider, or end soon. */
export async function checkModels(db: Db): Promise<Finding[]> {
  const gone = await db.select().from(listedModels).where(isNotNull(listedModels.warnedAt));
  return gone.map(({ provider, model, endsAt }) =>
    warning(
      endsAt === null
        ? `The model ${model} is gone from the list of the provider ${provider}.`
        : `The model ${model} of the provider ${provider} ends on ${endsAt.toISOString().slice(0, 10)}.`,
      'Choose another model in the tasks that use it, and in the system settings.',
    ),
  );
}
