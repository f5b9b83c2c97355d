import t from 'tap';
import { selectReached } from '../../scripts/changed-tests.ts';

const TESTS = [
  'apps/api/test/tasks/create-task.test.ts',
  'apps/api/test/users/coupons/activate-coupon.test.ts',
  'apps/api/test/schedule/recurrence.test.ts',
  'test/docs/readme.test.ts',
  'packages/db/test/pool.test.ts',
];

t.test('A changed test selects itself', async (t) => {
  const test = 'apps/api/test/schedule/recurrence.test.ts';
  t.same(selectReached(TESTS, [test]), [test]);
});

t.test(
  'A changed source selects the tests that import it and those in the folders of the modules that use it',
  async (t) => {
    const selected = selectReached(TESTS, ['apps/api/src/product/schedule/recurrence.ts']);
    t.ok(selected.includes('apps/api/test/schedule/recurrence.test.ts'), 'its own test');
    t.ok(selected.includes('apps/api/test/tasks/create-task.test.ts'), 'tasks use schedules');
    t.notOk(selected.includes('packages/db/test/pool.test.ts'), 'the database does not');
  },
);

t.test('A changed page selects the tests that run the documentation', async (t) => {
  t.same(selectReached(TESTS, ['docs/README.md']), ['test/docs/readme.test.ts']);
});

t.test('A changed manifest, migration or script selects every test', async (t) => {
  for (const path of ['package.json', 'pnpm-lock.yaml', 'packages/db/migrations/0001.sql', 'scripts/test.ts']) {
    t.same(selectReached(TESTS, [path]), TESTS, path);
  }
});
