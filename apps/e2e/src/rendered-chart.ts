import { join, resolve } from 'node:path';
import { CORE_SCHEMA, loadAll } from 'js-yaml';
import { z } from 'zod';
import { helmProgram } from '../../../deploy/local/containers/helm.mjs';
import { ProgramError, run } from '../../../deploy/local/run-program.mjs';

const root = resolve(__dirname, '../../..');

/** The directory of the chart. */
export const chart = join(root, 'deploy/helm/rondo');

/** The path of Helm, which is downloaded once: call it in `beforeAll`, with time for a download. */
export const prepareHelm = () => helmProgram(join(root, '.data/packages/helm-4'));

const container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z
    .array(z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }))
    .default([]),
  securityContext: z.record(z.string(), z.unknown()).default({}),
  livenessProbe: z.unknown().optional(),
  readinessProbe: z.unknown().optional(),
  resources: z.record(z.string(), z.unknown()).optional(),
  volumeMounts: z
    .array(z.looseObject({ name: z.string(), mountPath: z.string(), subPathExpr: z.string().optional() }))
    .default([]),
});
const secretVolume = z.looseObject({ items: z.array(z.object({ key: z.string(), path: z.string() })).optional() });

/** What specs read of the spec of a pod. */
export const pod = z.object({
  serviceAccountName: z.string().optional(),
  automountServiceAccountToken: z.boolean().optional(),
  imagePullSecrets: z.array(z.object({ name: z.string() })).optional(),
  terminationGracePeriodSeconds: z.number().optional(),
  hostUsers: z.boolean().optional(),
  securityContext: z.record(z.string(), z.unknown()).optional(),
  containers: z.array(container),
  volumes: z.array(z.looseObject({ name: z.string(), secret: secretVolume.optional() })).optional(),
});
export type Pod = z.infer<typeof pod>;

const anObject = z.looseObject({
  kind: z.string(),
  metadata: z
    .object({
      name: z.string(),
      labels: z.record(z.string(), z.string()),
      annotations: z.record(z.string(), z.string()).optional(),
    })
    .loose(),
});
export type KubernetesObject = z.infer<typeof anObject>;

/** The objects of a release named `rondo`, with values as `--set` takes them. */
export const render = (...settings: string[]) => template(settings.flatMap((set) => ['--set', set]));

/** The same with values of any shape, by their names with dots. */
export const renderValues = (values: Readonly<Record<string, unknown>>) =>
  template(Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]));

/** The same with a file of values, as a person writes it. */
export const renderFile = (file: string, ...settings: string[]) =>
  template(['--values', file, ...settings.flatMap((set) => ['--set', set])]);

async function template(settings: readonly string[]): Promise<KubernetesObject[]> {
  const { stdout } = await run(await prepareHelm(), ['template', 'rondo', chart, ...settings]);
  return loadAll(stdout, { schema: CORE_SCHEMA })
    .filter((object) => object !== null && object !== undefined)
    .map((object) => anObject.parse(object));
}

/** Why Helm does not render the chart with these values, or `rendered`. */
export const refusal = (...settings: string[]) =>
  render(...settings).then(
    () => 'rendered',
    (error: unknown) => (error instanceof ProgramError ? error.message : String(error)),
  );

/** The component of an object: the service that it belongs to, or one of `account`, `metrics` and `test`. */
export const readComponent = ({ metadata }: KubernetesObject) => metadata.labels['app.kubernetes.io/component'] ?? '';

const workload = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: z.unknown() }) }) });

/** The templates of all pods, with their metadata, by component; that of `helm test` is `test`. */
export function findPodTemplates(objects: readonly KubernetesObject[]): Map<string, { spec: unknown }> {
  const workloads = objects.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job', 'Pod'].includes(kind));
  return new Map(
    workloads.map((object) => [
      readComponent(object),
      object.kind === 'Pod'
        ? { spec: object['spec'], metadata: object.metadata }
        : workload.parse(object).spec.template,
    ]),
  );
}

/** The pods of the services, the migrations and the bundled servers, by component. */
export function findPods(objects: readonly KubernetesObject[]): Map<string, Pod> {
  const templates = findPodTemplates(objects.filter(({ kind }) => kind !== 'Pod'));
  return new Map([...templates].map(([component, { spec }]) => [component, pod.parse(spec)]));
}
