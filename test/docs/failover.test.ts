import t from 'tap';
import { parse } from 'yaml';
import { buildPatroniConfiguration, chooseEtcdApi, RECOMMENDED } from '../failover/cluster/configuration.ts';
import { buildListenSection } from '../failover/cluster/haproxy.ts';
import { parseBlocks, readPage } from './pages.ts';

const blocks = parseBlocks(readPage('docs/operating/failover.md'));
const getBlock = (language: string) => blocks.find((block) => block.language === language)?.text ?? '';

t.test("The page's configuration of Patroni is the one that the drill disturbs", async (t) => {
  const shown = parse(getBlock('yaml'));
  t.strictSame(shown.bootstrap, RECOMMENDED.bootstrap);
  t.strictSame(shown.postgresql.basebackup, RECOMMENDED.basebackup);
  const measured = buildPatroniConfiguration(
    { name: 'db1', home: '/home', port: 5432, restPort: 8008 },
    {
      etcd: { api: 'etcd', port: 2379 },
      tls: { certificate: shown.postgresql.parameters.ssl_cert_file, key: shown.postgresql.parameters.ssl_key_file },
      programs: shown.postgresql.bin_dir,
      password: 'a password',
    },
  );
  t.strictSame(Object.keys(shown).sort(), Object.keys(measured).sort());
  t.match(measured.postgresql.parameters, shown.postgresql.parameters);
  for (const rule of measured.postgresql.pg_hba) t.ok(shown.postgresql.pg_hba.includes(rule), rule);
});

t.test("The page's section of HAProxy is the one that the drill disturbs", async (t) => {
  const servers = ['db1', 'db2', 'db3'].map((name) => ({ name, address: `${name}.internal:5432`, restPort: 8008 }));
  t.equal(getBlock('text'), `${buildListenSection('127.0.0.1:5432', servers)}\n`);
});

t.test('The drill uses version 3 of the API of etcd from Patroni 3.0.3 on, as the page says', async (t) => {
  for (const version of ['2.1.4', '3.0.0', '3.0.2']) t.equal(chooseEtcdApi(version), 'etcd', version);
  for (const version of ['3.0.3', '3.1.0', '4.0.0', '4.0.4']) t.equal(chooseEtcdApi(version), 'etcd3', version);
});
