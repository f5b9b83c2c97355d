import { DAY_MS } from '@carillon/contract/primitives';
import { queryRows, toInstant } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { inTransaction } from '../../../transaction.ts';
import { notifyAdmins } from './silent-scheduler.ts';

const MAX_AGE_DAYS = 7;

/**
 * Notifies the admins once of a last backup of more than seven days. One who has never run `carillon backup` makes backups by
 * other means.
 */
export function reportOldBackup(ctx: Context): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const now = tx.now();
    const [old] = await queryRows<{ lastBackupAt: string }>(
      tx.db,
      sql`
      update settings set backup_noticed_at = ${now.toISOString()}
      where last_backup_at < ${new Date(now.getTime() - MAX_AGE_DAYS * DAY_MS).toISOString()}::timestamptz
        and backup_noticed_at is null
      returning last_backup_at`,
    );
    if (!old) return;
    const days = Math.floor((now.getTime() - toInstant(old.lastBackupAt).getTime()) / DAY_MS);
    await notifyAdmins(tx, ({ language }) => {
      const { notices } = getTexts(language);
      return { kind: 'backup.old', title: notices.backupOld, message: notices.backupOldText(days) };
    });
  });
}
