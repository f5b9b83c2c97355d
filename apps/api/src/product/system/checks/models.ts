import { type Db, listedModels } from '@carillon/db';
import { isNotNull } from 'drizzle-orm';
import { type DoctorTexts, type Finding, findingsFor } from './finding.ts';

const { warning } = findingsFor('AI provider');

/** The models in use that are gone from the list of their provider, or end soon. */
export async function checkModels(db: Db, texts: DoctorTexts): Promise<Finding[]> {
  const gone = await db.select().from(listedModels).where(isNotNull(listedModels.warnedAt));
  return gone.map(({ provider, model, endsAt }) =>
    warning(
      endsAt === null
        ? texts.modelGone(model, provider)
        : texts.modelEnds(model, provider, endsAt.toISOString().slice(0, 10)),
      texts.chooseModel,
    ),
  );
}
