import { notifications, settings } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { reportOldBackup } from '../../../src/product/system/health/old-backup.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { signUpAda } from '../../support/people.ts';

const { ctx, app, clock, newProcess } = await testEngine(t);
const DAY = 86_400_000;
const notices = () => ctx.db.select().from(notifications).where(eq(notifications.kind, 'backup.old'));
const setBackup = (lastBackupAt: Date | null) => ctx.db.update(settings).set({ lastBackupAt, backupNoticedAt: null });
t.teardown(() => setBackup(null));

t.test('Admins are notified once of a backup of more than seven days, also by several processes', async (t) => {
  const ada = await signUpAda(app);
  await setBackup(START);
  clock.set(new Date(START.getTime() + 7 * DAY));
  await reportOldBackup(ctx);
  t.same(await notices(), [], 'seven days are not too many');
  clock.set(new Date(START.getTime() + 8 * DAY));
  await Promise.all([ctx, newProcess(t).ctx, newProcess(t).ctx].map(reportOldBackup));
  t.match(await notices(), [{ userId: ada.id, title: 'The last backup is old', message: /^It was made 8 days ago\./ }]);
  await setBackup(ctx.now());
  clock.set(new Date(START.getTime() + 16 * DAY));
  await reportOldBackup(ctx);
  t.equal((await notices()).length, 2, 'the next one is another');
});

t.test('Without a backup of Carillon, nobody is notified', async (t) => {
  await signUpAda(app);
  await setBackup(null);
  await reportOldBackup(ctx);
  t.same(await notices(), []);
});
