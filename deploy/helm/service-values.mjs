import { z } from 'zod';
import { workload } from './pod-settings.mjs';
import {
  withDefault,
  group,
  text,
  port,
  positive,
  size,
  fields,
  listOfFields,
  texts,
  amount,
  variables,
  toVariables,
  resources,
} from './value-types.mjs';

/** The values of each workload that the chart runs. */

const ownImage = withDefault(
  text,
  '',
  'The whole reference of its image, such as one with a digest, instead of what `image` says.',
);
const disruptions = group({
  enabled: withDefault(z.boolean(), true, 'Creates a PodDisruptionBudget.'),
  maxUnavailable: withDefault(amount, 1, 'How many of its pods a drain may take at once.'),
  minAvailable: withDefault(amount, '', 'How many must stay, instead of `maxUnavailable`.'),
});
const pathBelow = 'The path below which it is reached, if what is in front takes it away (docs/kubernetes.md).';
const metadataOfService = {
  labels: withDefault(texts, {}, 'More labels of its Service.'),
  annotations: withDefault(texts, {}, 'Annotations of its Service.'),
};

export const gateway = group({
  replicas: withDefault(positive, 2, 'Pods, at least, if it is scaled.'),
  maxReplicas: withDefault(positive, 6, 'Pods at most.'),
  targetCpuPercent: withDefault(
    positive.max(100),
    70,
    'The CPU use, of what is requested, above which pods are added.',
  ),
  env: toVariables('the gateway'),
  resources: resources({ requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '1Gi' } }),
  image: ownImage,
  service: group({
    type: withDefault(z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']), 'ClusterIP', 'The type of its Service.'),
    port: withDefault(port, 80, 'The port of its Service.'),
    ...metadataOfService,
    spec: withDefault(
      fields,
      {},
      'More fields of its Service, such as `loadBalancerClass` or `externalTrafficPolicy`.',
    ),
  }),
  ingress: group({
    enabled: withDefault(z.boolean(), false, 'Creates an Ingress whose time-outs let streams and sockets stay open.'),
    className: withDefault(text, '', 'The class of the Ingress; the default one unless given.'),
    host: withDefault(text, '', 'The host name under which clients reach the gateway.'),
    moreHosts: withDefault(z.array(text), [], 'Further host names.'),
    path: withDefault(text.regex(/^\//), '/', pathBelow),
    pathType: withDefault(z.enum(['Prefix', 'Exact', 'ImplementationSpecific']), 'Prefix', 'How the path is compared.'),
    tlsSecret: withDefault(text, '', 'The Secret with its certificate; HTTP without one.'),
    annotations: withDefault(texts, {}, 'Added to, or instead of, those for ingress-nginx.'),
  }),
  httpRoute: group({
    enabled: withDefault(z.boolean(), false, 'Creates an HTTPRoute of the Gateway API.'),
    parentRefs: withDefault(listOfFields, [], 'The Gateways that it belongs to. At least one is required.'),
    hostnames: withDefault(
      z.array(text),
      [],
      'The host names under which clients reach the gateway; all of the Gateway unless given.',
    ),
    path: withDefault(text.regex(/^\//), '/', pathBelow),
    filters: withDefault(listOfFields, [], 'Filters of the rule.'),
    timeouts: withDefault(
      texts,
      { request: '0s' },
      'Time-outs of the rule. `0s` is none, which streams and sockets need.',
    ),
    annotations: withDefault(texts, {}, 'Its annotations.'),
  }),
  podDisruptionBudget: disruptions,
  ...workload,
});

export const agentWorker = group({
  replicas: withDefault(z.int().min(0), 2, 'Pods, at least, if it is scaled. `0` with `autoscaling: keda` only.'),
  maxReplicas: withDefault(positive, 20, 'Pods at most.'),
  concurrency: withDefault(positive, 64, 'Runs that a pod takes at the same time.'),
  drainSeconds: withDefault(
    positive,
    30,
    'How long runs may continue to the end of an iteration at shutdown. Then other pods continue them.',
  ),
  env: toVariables('agent-worker'),
  resources: resources({ requests: { cpu: '500m', memory: '512Mi' }, limits: { memory: '2Gi' } }),
  image: ownImage,
  podDisruptionBudget: disruptions,
  ...workload,
});

export const summarizer = group({
  replicas: withDefault(positive, 1, 'Pods.'),
  env: toVariables('summarizer'),
  resources: resources({ requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } }),
  image: ownImage,
  podDisruptionBudget: disruptions,
  ...workload,
});

const sandbox = group({
  mode: withDefault(
    z.enum(['userNamespace', 'privileged', 'runtime']),
    'userNamespace',
    'How the pod may create namespaces for its sandboxes: `userNamespace` needs nodes that support user namespaces; `privileged` works everywhere and is worth an escape to the node; `runtime` leaves it to the RuntimeClass.',
  ),
  limits: withDefault(
    z.enum(['', 'sandbox', 'pod']),
    '',
    'Whose memory and processes are limited. `sandbox`: each sandbox of an executor has limits of its own, and where the pod cannot make control groups no tool runs. `pod`: the limits of the pod hold for all its sandboxes together, and one that uses them up ends the others. Must be chosen unless `mode` is `privileged`, where `sandbox` works everywhere.',
  ),
  seccomp: withDefault(
    z.enum(['Unconfined', 'Localhost']),
    'Unconfined',
    'The seccomp profile under `userNamespace`. The default profiles of container runtimes forbid namespaces.',
  ),
  seccompFile: withDefault(
    text,
    '',
    'The path of the profile on the nodes, below the seccomp directory of the kubelet; for `Localhost`.',
  ),
});

export const toolExecutor = group({
  enabled: withDefault(
    z.boolean(),
    true,
    'Runs sandboxes on this cluster. Without it, run executors elsewhere, on hosts of their own.',
  ),
  replicas: withDefault(positive, 1, 'Pods. NATS must know each by name.'),
  autoscaling: group({
    enabled: withDefault(
      z.boolean(),
      false,
      'Scales executors by the part of their capacity that is in use, of slots for calls or of sandboxes, whichever is more. Needs workspaces that move: `SANDBOX_SNAPSHOTS` and `EXECUTOR_LOST_AFTER_S`.',
    ),
    maxReplicas: withDefault(positive, 4, 'Pods at most. NATS must know each by name.'),
    targetPercent: withDefault(positive.max(100), 70, 'The part in use, on average, above which pods are added.'),
    prometheus: withDefault(
      text,
      '',
      'The address of the Prometheus that has the metrics of executors, for `autoscaling: keda`. With `autoscaling: cpu` an adapter must offer them as metrics of pods.',
    ),
  }),
  drainSeconds: withDefault(
    positive.max(600),
    30,
    'How long running calls may continue at shutdown. Then they are killed.',
  ),
  storage: withDefault(size, '50Gi', 'The volume of each pod, with the workspaces of its threads.'),
  storageClass: withDefault(text, '', 'The class of the volumes; the default one unless given.'),
  env: toVariables('tool-executor'),
  secret: withDefault(
    text,
    '',
    'The Secret with keys as variables: of tools, such as TAVILY_API_KEY, of Daytona, of the bucket of SANDBOX_SNAPSHOTS (docs/configuration.md). Only tool-executor gets it.',
  ),
  resources: resources({ requests: { cpu: '1', memory: '2Gi' }, limits: { memory: '16Gi' } }),
  image: ownImage,
  runtimeClass: withDefault(text, '', 'The RuntimeClass of the pods, such as `kata`; for `sandbox.mode: runtime`.'),
  sandbox,
  service: group(metadataOfService),
  podDisruptionBudget: disruptions,
  ...workload,
});

export const demoModel = group({
  env: variables('More variables of the demo model (docs/configuration.md).'),
  resources: resources({ requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } }),
  image: ownImage,
  service: group(metadataOfService),
  ...workload,
});

export const migrations = group({
  resources: resources({ requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } }),
  image: ownImage,
  deadlineSeconds: withDefault(
    z.int().min(0),
    0,
    'How long the Job may take, all its attempts together. `0`: as long as they need.',
  ),
  ...workload,
});

export const helmTest = group({
  resources: resources({ requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } }),
  image: ownImage,
  ...workload,
});
