import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '@carillon/api/lib/config/variables';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import t from 'tap';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../docs/pages.ts';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

const FOLDER = join(ROOT, 'deploy/kubernetes');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const files = readdirSync(FOLDER).filter((name) => name !== 'kustomization.yaml');
const manifests: Manifest[] = files.flatMap((name) => parseAllDocuments(read(name)).map((document) => document.toJS()));
const find = (kind: string, name: string) =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name) as Manifest;
const podOf = (name: string) => {
  const pod = (find('Deployment', name) as unknown as Deployment).spec?.template.spec;
  if (!pod) throw new Error(`${name} has no pods.`);
  return pod;
};

t.test('Every manifest has the fields of its kind and no other', async (t) => {
  t.equal(manifests.length, 8);
  const versions = Object.fromEntries(manifests.map(({ kind, apiVersion }) => [kind, apiVersion]));
  const imports = Object.entries(versions).map(
    ([kind, version]) =>
      `import type { ${kind} } from 'kubernetes-types/${version.includes('/') ? version : `core/${version}`}';`,
  );
  const check = (checked: readonly Manifest[]) => {
    const values = checked.map((manifest) => `(${JSON.stringify(manifest)}) satisfies ${manifest.kind};`);
    const folder = t.testdir({ 'manifests.mts': [...imports, ...values, ''].join('\n') });
    const program = ts.createProgram([join(folder, 'manifests.mts')], {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      strict: true,
      skipLibCheck: true,
      types: [],
      paths: { 'kubernetes-types/*': [join(ROOT, 'test/node_modules/kubernetes-types/*')] },
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  };
  t.strictSame(check(manifests), []);
  const api = JSON.parse(JSON.stringify(find('Deployment', 'carillon-api')));
  api.spec.template.spec.containers[0].readinesProbe = {};
  t.match(check([api]), [/readinesProbe.* does not exist/]);
  delete api.spec.template.spec.containers[0].readinesProbe;
  api.spec.replicas = '2';
  t.match(check([api]), [/'string' is not assignable to type 'number'/]);
});

t.test('No pod runs as root, writes into its image, has capabilities or a token of the cluster', async (t) => {
  for (const name of ['carillon-api', 'carillon-scheduler']) {
    const pod = podOf(name);
    t.match(pod, {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    t.strictSame(pod.containers[0]?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

t.test('The probes ask for life and readiness, and a stop gets the time it takes', async (t) => {
  const pod = podOf('carillon-api');
  const [container] = pod.containers;
  t.equal(container?.livenessProbe?.httpGet?.path, '/api/health/live');
  t.equal(container?.startupProbe?.httpGet?.path, '/api/health/live');
  t.equal(container?.readinessProbe?.httpGet?.path, '/api/health/ready');
  const delayMs = Number(find('ConfigMap', 'carillon-config').data?.SHUTDOWN_DELAY_MS);
  t.ok((pod.terminationGracePeriodSeconds ?? 0) * 1000 >= delayMs + 30_000);
});

t.test('The API gets every setting and secret, the scheduler its own secret alone', async (t) => {
  const settings = find('ConfigMap', 'carillon-config').data ?? {};
  const secrets = find('Secret', 'carillon-secrets').stringData ?? {};
  for (const name of [...Object.keys(settings), ...Object.keys(secrets)]) t.ok(name in VARIABLES, name);
  const sources = podOf('carillon-api').containers[0]?.envFrom?.map(
    (from) => (from.configMapRef ?? from.secretRef)?.name,
  );
  t.strictSame(sources, ['carillon-config', 'carillon-secrets', 'carillon-cron-secret']);
  const [scheduler] = podOf('carillon-scheduler').containers;
  t.strictSame([scheduler?.env?.map(({ name }) => name), scheduler?.envFrom], [['API_URL', 'CRON_SECRET'], undefined]);
});

t.test('The service and the disruption budget select the pods of the API', async (t) => {
  const api = find('Deployment', 'carillon-api') as unknown as Deployment;
  const labels = api.spec?.template.metadata?.labels;
  t.match(find('Service', 'carillon-api'), { spec: { selector: labels } });
  t.match(find('PodDisruptionBudget', 'carillon-api'), { spec: { selector: { matchLabels: labels } } });
});

t.test('The customization has every manifest but the secrets, and the version of the package', async (t) => {
  const { resources, images } = parse(read('kustomization.yaml'));
  t.same([...resources].sort(), files.filter((name) => name !== 'secrets.example.yaml').sort());
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  t.equal(images[0].newTag, version);
});
