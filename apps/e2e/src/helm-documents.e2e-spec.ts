import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { prepareHelm, renderFile } from './rendered-chart';

beforeAll(prepareHelm, 300_000);

const document = readFileSync(join(repoRoot, 'docs/kubernetes.md'), 'utf8');
const examples = [...document.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, values = '']) => values);
const folder = join(repoRoot, '.data/cache');

/** What an installation needs besides, with an Ingress and an HTTPRoute. */
const needed = [
  ...['postgres.host=pg.example', 'redis.host=redis.example', 'nats.host=nats.example'],
  ...['toolExecutor.sandbox.limits=pod', 'gateway.ingress.enabled=true', 'gateway.ingress.host=example.com'],
  ...['gateway.httpRoute.enabled=true', 'gateway.httpRoute.parentRefs[0].name=public'],
];

/** With the values of the example that has this text. */
function renderExample(text: string) {
  const [values = ''] = examples.filter((example) => example.includes(text));
  const file = join(folder, 'documented-values.yaml');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, values);
  return renderFile(file, ...needed);
}

describe('the values that docs/kubernetes.md shows', () => {
  it.each(examples.map((values) => [values.split('\n').slice(0, 2).join(' '), values]))(
    'render: %s',
    async (_, values) => {
      expect(await renderExample(values)).not.toHaveLength(0);
    },
  );

  it('take a path away before a gateway, which knows of none', async () => {
    const objects = await renderExample('PUBLIC_URL');
    const find = (wanted: string) => objects.find(({ kind }) => kind === wanted);

    expect(find('Ingress')).toMatchObject({
      metadata: { annotations: { 'nginx.ingress.kubernetes.io/rewrite-target': '/$2' } },
      spec: { rules: [{ http: { paths: [{ path: '/rondo(/|$)(.*)', pathType: 'ImplementationSpecific' }] } }] },
    });
    const toRoot = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' };
    expect(find('HTTPRoute')).toMatchObject({
      spec: {
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/rondo' } }],
            filters: [{ type: 'URLRewrite', urlRewrite: { path: toRoot } }],
          },
        ],
      },
    });
  });
});
