import * as auth from '@carillon/contract/accounts/auth';
import * as executions from '@carillon/contract/executions';
import * as occurrences from '@carillon/contract/occurrences';
import * as tasks from '@carillon/contract/tasks';
import * as uploads from '@carillon/contract/uploads';
import * as rows from '@carillon/db';
import t from 'tap';

t.test('The contract and the database use the same enum values', async (t) => {
  t.same(auth.ROLES, rows.ROLES);
  t.same(tasks.RECURRENCES, rows.RECURRENCES);
  t.same(tasks.TASK_STATUSES, rows.TASK_STATUSES);
  t.same(occurrences.FATES, rows.FATES);
  t.same(executions.EXECUTION_STATUSES, rows.EXECUTION_STATUSES);
  t.same(executions.TRIGGERS, rows.TRIGGERS);
  t.same(executions.ERROR_CODES, rows.ERROR_CODES);
  t.same(uploads.STORAGES, rows.STORAGES);
});
