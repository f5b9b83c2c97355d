import type { Context } from '../../../context.ts';
import { checkDeliveries } from './deliveries.ts';
import { checkEncryptionKeys } from './encryption-keys.ts';
import type { DoctorTexts, Finding } from './finding.ts';
import { checkMail } from './mail.ts';
import { checkModels } from './models.ts';
import { checkOldSnapshots } from './old-snapshots.ts';
import { checkPartitions } from './partitions.ts';
import { checkStorage } from './storage.ts';

/** A page waits for it. */
const MAIL_TIMEOUT_MS = 5000;

/**
 * What `carillon doctor` finds while the service runs, worst first, without the checks of the machine and the paid ones.
 * `services`: also logs in to the mail server, and stores a file.
 */
export async function findProblems(
  { db, config, now }: Context,
  services: boolean,
  texts: DoctorTexts,
): Promise<Finding[]> {
  const ofDatabase = async () => [
    ...(await checkEncryptionKeys(db, config.encryptionKeys, texts)),
    ...(await checkPartitions(db, now(), texts)),
    ...(await checkOldSnapshots(db, texts)),
    ...(await checkModels(db, texts)),
    ...(await checkDeliveries(db, now(), config.retention.deliveriesDays, texts)),
  ];
  const ofServices = () => [checkMail(config.mail, texts, MAIL_TIMEOUT_MS), checkStorage(config, texts)];
  const checked = await Promise.all([ofDatabase(), ...(services ? ofServices() : [])]);
  const findings = checked.flat().filter(({ level }) => level !== 'ok');
  return findings.toSorted((a, b) => Number(b.level === 'problem') - Number(a.level === 'problem'));
}
