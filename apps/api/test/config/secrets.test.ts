import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { PRODUCTION_ENV } from '../support/production.ts';

t.test('Development starts without settings and stores the secrets that it generates', async (t) => {
  const DATA_DIR = t.testdir();
  const { storage, jwtSecret, cronSecret, adminKey } = loadConfig({ DATA_DIR });
  t.match(storage, { driver: 'base64', s3: null });
  t.equal(new Set([jwtSecret, cronSecret, adminKey]).size, 3);
  t.equal(loadConfig({ DATA_DIR }).jwtSecret, jwtSecret);
  t.equal(loadConfig({ DATA_DIR, JWT_SECRET: 'weak' }).jwtSecret, 'weak', 'weak secrets are accepted');
});

t.test('A secret can be read from a file', async (t) => {
  const folder = t.testdir({ jwt: `${PRODUCTION_ENV.JWT_SECRET}\n` });
  const { JWT_SECRET, ...others } = PRODUCTION_ENV;
  t.equal(loadConfig({ ...others, JWT_SECRET_FILE: `${folder}/jwt` }).jwtSecret, JWT_SECRET);
  t.throws(() => loadConfig({ ...others, JWT_SECRET_FILE: `${folder}/none` }), {
    message: `JWT_SECRET_FILE names ${folder}/none, which cannot be read.`,
  });
});
