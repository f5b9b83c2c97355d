import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';

const find = (names: readonly string[], fileNames: readonly string[] = []) => {
  const env = Object.fromEntries(names.map((name) => [name, 'x']));
  const settings = { DATA_DIR: t.testdirName, NODE_ENV: 'test' };
  return loadConfig({ ...env, ...settings }, fileNames).unknownVariables;
};
t.testdir();

t.test('A misspelt setting is found with the nearest one', async (t) => {
  const misspelt = {
    AI_BASEURL: 'AI_BASE_URL',
    TRUSTPROXY: 'TRUST_PROXY',
    CORS_ORIGIN: 'CORS_ORIGINS',
    SMTP_URI: 'SMTP_URL',
    SMTP_HOST: 'SMTP_URL',
    LOGLEVEL: 'LOG_LEVEL',
    ai_base_url: 'AI_BASE_URL',
    SCHEDULER_INTERVAL: 'SCHEDULER_INTERVAL_MS',
    RETENTION_DAYS: 'RETENTION_AUDIT_DAYS',
  };
  t.strictSame(
    find(Object.keys(misspelt)),
    Object.keys(misspelt)
      .sort()
      .map(
        (name) =>
          `${name} is not a setting of Carillon and is ignored. The nearest is ${misspelt[name as keyof typeof misspelt]}.`,
      ),
  );
});

t.test('Variables of other programs are not reported', async (t) => {
  const others = [
    'PATH',
    'HOME',
    'HOSTNAME',
    'LOGNAME',
    'PGHOST',
    'PGPORT',
    'NODE_VERSION',
    'NODE_EXTRA_CA_CERTS',
    'TZ',
  ];
  const more = [
    'npm_config_cache',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'ANTHROPIC_MODEL',
    'APP_NAME',
    'DATA_SOURCE',
    'HTTPS_PROXY',
  ];
  t.strictSame(find([...others, ...more]), []);
});

t.test('Settings, their files and the variables of the scheduler and the compose file are known', async (t) => {
  t.strictSame(find([], ['JWT_SECRET', 'JWT_SECRET_FILE', 'API_URL', 'POSTGRES_PASSWORD', 'CARILLON_HOST']), []);
});

t.test('Every unknown name in .env is reported', async (t) => {
  t.strictSame(find([], ['EDITOR']), ['EDITOR is not a setting of Carillon and is ignored.']);
});
