import t from 'tap';
import { ConfigError, loadConfig } from '../../src/lib/config/config.ts';

const load = (t: { testdir(): string }, env: Record<string, string>) => loadConfig({ DATA_DIR: t.testdir(), ...env });

t.test('Metrics are off without a port', async (t) => {
  t.equal(load(t, {}).metrics, null);
  t.equal(load(t, { METRICS_PORT: '', METRICS_HOST: '0.0.0.0' }).metrics, null);
});

t.test('Metrics listen at the loopback address by default', async (t) => {
  t.same(load(t, { METRICS_PORT: '9464' }).metrics, { host: '127.0.0.1', port: 9464 });
  t.same(load(t, { METRICS_PORT: '0', METRICS_HOST: '::' }).metrics, { host: '::', port: 0 });
});

t.test('Metrics reject the port of the API', async (t) => {
  const shared = new ConfigError('METRICS_PORT and PORT are both 4000: set METRICS_PORT to another port.');
  t.throws(() => load(t, { PORT: '4000', METRICS_PORT: '4000' }), shared);
  t.equal(load(t, { PORT: '0', METRICS_PORT: '0' }).metrics?.port, 0, 'two free ports are picked');
});

t.test('An invalid port stops the start', async (t) => {
  for (const METRICS_PORT of ['65536', '-1', 'on', '9464/metrics']) {
    t.throws(() => load(t, { METRICS_PORT }), /^METRICS_PORT is .*, but takes a whole number from 0 to 65535\.$/);
  }
});
