/**
 * Every value of the chart: its type, its default and what it says. `npm run docs` writes values.yaml, values.schema.json and
 * docs/helm-values.md from it. A value of Kubernetes itself is taken as Kubernetes takes it, so only its outer shape is checked.
 */
import { z } from 'zod';
import { podSettings, workload } from './pod-settings.mjs';
import { agentWorker, demoModel, gateway, helmTest, migrations, summarizer, toolExecutor } from './service-values.mjs';
import {
  withDefault,
  group,
  text,
  filled,
  port,
  size,
  listOfFields,
  texts,
  variableName,
  variables,
  resources,
} from './value-types.mjs';

const bundled = group({
  enabled: withDefault(
    z.boolean(),
    false,
    'Installs Postgres, Redis and NATS as one pod each, without backups or failover: for trying out.',
  ),
  nats: group({
    replicas: withDefault(
      z.literal([1, 3, 5]),
      1,
      'Servers of NATS. 3 or 5 form a cluster: each keeps every call (`NATS_STREAM_REPLICAS`), and the loss of one, or of two of five, loses none. The Secret then needs `NATS_CLUSTER_PASSWORD`.',
    ),
  }),
  storage: withDefault(size, '8Gi', 'The volume of each.'),
  storageClass: withDefault(text, '', 'The class of the volumes; the default one unless given.'),
  images: group({
    postgres: withDefault(
      text,
      'postgres:17-alpine@sha256:742f40ea20b9ff2ff31db5458d127452988a2164df9e17441e191f3b72252193',
      'Postgres 15 or later.',
    ),
    redis: withDefault(
      text,
      'redis:7-alpine@sha256:6ab0b6e7381779332f97b8ca76193e45b0756f38d4c0dcda72dbb3c32061ab99',
      'Redis 7 or later.',
    ),
    nats: withDefault(
      text,
      'nats:2.11-alpine@sha256:e4bf19f15fd3218814a4e3c9e0064e1334bd8aa20d5984b9f1a0afd084f8cc00',
      'NATS 2.10 or later.',
    ),
  }),
  resources: group({
    postgres: resources({ requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } }),
    redis: resources({ requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '512Mi' } }),
    nats: resources({ requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '512Mi' } }),
  }),
  ...workload,
});

const postgres = group({
  host: withDefault(text, '', 'The host name of Postgres. Required unless `bundled.enabled`.'),
  port: withDefault(port, 5432, 'Its port.'),
  database: withDefault(
    filled,
    'rondo',
    'The database. The roles of the services are named after it: `rondo_gateway`.',
  ),
  owner: withDefault(
    filled,
    'rondo',
    'The role that owns it, which only the migrations use. Its password is `POSTGRES_PASSWORD` of the Secret.',
  ),
  parameters: withDefault(
    text.regex(/^(\?.*)?$/),
    '',
    'Appended to the URLs, with a `?` at the beginning, such as `?sslmode=verify-full` where Node knows the authority of the certificate (`caBundle`), or `?sslmode=require&uselibpqcompat=true`, which encrypts and checks nothing.',
  ),
  uri: group({
    secret: withDefault(
      text,
      '',
      'A Secret with the URI of the owner, as operators of Postgres write it (CloudNativePG, Crunchy), instead of `host`, `owner` and its password. `database` must be the one that it names.',
    ),
    key: withDefault(filled, 'uri', 'The key of the URI in it.'),
  }),
  rolePerService: withDefault(
    z.boolean(),
    true,
    'Gives each service a role of its own with its rights alone, which the owner must be allowed to create (`CREATEROLE`). `false`: all services use `uri`.',
  ),
});

const redis = group({
  host: withDefault(text, '', 'The host name of Redis. Required unless `bundled.enabled`.'),
  port: withDefault(port, 6379, 'Its port.'),
  tls: withDefault(z.boolean(), false, 'Connects with TLS.'),
  sentinels: withDefault(
    z.array(filled),
    [],
    'The Sentinels to ask for the primary, as `host:port`, instead of `host`. They are asked without a password.',
  ),
  primary: withDefault(filled, 'mymaster', 'The name of the primary, for `sentinels`.'),
  database: withDefault(z.int().min(0), 0, 'The number of the database.'),
  user: withDefault(text, '', 'The user of Redis, where it has users. The password is `REDIS_PASSWORD` of the Secret.'),
});

const nats = group({
  host: withDefault(
    text,
    '',
    'The host name of NATS, which runs with JetStream and the users of `npm run nats-configuration`. Required unless `bundled.enabled`.',
  ),
  port: withDefault(port, 4222, 'Its port.'),
  servers: withDefault(
    z.array(filled),
    [],
    'The servers of a cluster, as `host:port`, instead of `host`. A service uses one, and goes to another when it is lost.',
  ),
  tls: withDefault(z.boolean(), false, 'Connects with TLS.'),
});

const clusterDns = [{ namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }];
const networkPolicy = group({
  enabled: withDefault(
    z.boolean(),
    true,
    'Limits who may connect to whom. Needs a network plugin that enforces policies.',
  ),
  gatewayFrom: withDefault(
    listOfFields,
    [],
    'Who may connect to the gateway, as peers of a NetworkPolicy; everyone unless given. Its metrics have the same port: name your Prometheus, too.',
  ),
  executorEgress: withDefault(
    listOfFields,
    [],
    'What else tool-executor may connect to, as egress rules of a NetworkPolicy: private services of tools, such as SearXNG, Firecrawl, Daytona or MCP servers.',
  ),
  dns: group({
    to: withDefault(listOfFields, clusterDns, 'Where tool-executor resolves names, as peers of a NetworkPolicy.'),
    port: withDefault(port, 53, 'The port of it; on OpenShift that of its pods, 5353.'),
  }),
});

/** All values. What a group contains is in the order of values.yaml. */
export const values = z.strictObject({
  secret: withDefault(
    filled,
    'rondo',
    'The Secret with the passwords and keys: what `npm run --silent helm-secrets` prints.',
  ),
  fullnameOverride: withDefault(
    text,
    '',
    'What the names of all objects begin with, instead of the name of the release. Executors are named after it, too: `npm run helm-secrets -- --release NAME`.',
  ),
  labels: withDefault(texts, {}, 'More labels of every object.'),
  annotations: withDefault(texts, {}, 'Annotations of every object.'),
  image: group({
    registry: withDefault(
      text,
      '',
      'The registry of all images, the bundled ones too, put before their names. Otherwise `global.imageRegistry`.',
    ),
    prefix: withDefault(
      filled,
      'rondo-',
      'What the names of the images begin with: `registry.example.com/rondo-` for `registry.example.com/rondo-gateway`, `…-agent-worker` and so on.',
    ),
    tag: withDefault(text, '', 'The tag of all of them; the version of the chart unless given.'),
    pullPolicy: withDefault(z.enum(['Always', 'IfNotPresent', 'Never']), 'IfNotPresent', 'When nodes fetch them.'),
    pullSecrets: withDefault(z.array(text), [], 'The names of Secrets for their registry.'),
  }),
  serviceAccount: group({
    annotations: withDefault(texts, {}, 'Annotations of the ServiceAccount, such as the role of a cloud.'),
  }),
  caBundle: group({
    configMap: withDefault(
      text,
      '',
      'The ConfigMap with the certificates of private authorities. Every service trusts them beside the public ones.',
    ),
    secret: withDefault(text, '', 'A Secret with them, instead.'),
    key: withDefault(filled, 'ca.crt', 'The key of the certificates in it, as PEM.'),
  }),
  proxy: group({
    http: withDefault(text, '', 'The proxy for requests by HTTP: `HTTP_PROXY` of every service.'),
    https: withDefault(text, '', 'The proxy for requests by HTTPS: `HTTPS_PROXY` of every service.'),
    noProxy: withDefault(
      z.array(text),
      [],
      'What is reached without it: `NO_PROXY`, beside the names inside the cluster.',
    ),
  }),
  postgres,
  redis,
  nats,
  bundled,
  models: group({
    secret: withDefault(
      text,
      '',
      'The Secret with the keys of model providers, such as OPENAI_API_KEY. Only agent-worker and summarizer get it.',
    ),
    keys: withDefault(
      z.array(variableName),
      [],
      'The names of the keys in it. The gateway gets the names, not the keys.',
    ),
    demo: withDefault(z.boolean(), true, 'Runs the demo model, which needs no key and which `helm test` uses.'),
  }),
  listenAddress: withDefault(
    filled,
    '0.0.0.0',
    'The address on which services listen in their pods; `::` in a cluster of IPv6.',
  ),
  env: variables('Variables of several services (docs/configuration.md): each gets those that it declares.'),
  ...podSettings,
  gateway,
  agentWorker,
  summarizer,
  toolExecutor,
  demoModel,
  migrations,
  test: helmTest,
  autoscaling: withDefault(
    z.enum(['none', 'cpu', 'keda']),
    'none',
    '`keda` scales agent-worker by the runs to serve and needs KEDA; `cpu` uses the CPU alone. Both scale the gateway by CPU.',
  ),
  networkPolicy,
  tracing: group({
    endpoint: withDefault(
      text.regex(/^$|^https?:\/\/[^/:]+:[0-9]+(\/.*)?$/),
      '',
      'The collector that all services send traces to, over OTLP/HTTP, with its port, such as `http://collector.monitoring:4318`; empty: none. Headers for it are `OTEL_EXPORTER_OTLP_HEADERS` of the Secret.',
    ),
    share: withDefault(
      z.union([z.number().min(0).max(1), text.regex(/^(0|1|0\.[0-9]+)$/)]),
      1,
      'The share of runs that are traced, unless a caller decides: 0 to 1.',
    ),
  }),
  podMonitor: group({
    enabled: withDefault(
      z.boolean(),
      false,
      'Creates a PodMonitor for the Prometheus operator. The Secret then needs `METRICS_TOKEN`.',
    ),
    interval: withDefault(text.regex(/^[0-9]+(ms|s|m)$/), '15s', 'How often metrics are read.'),
    labels: withDefault(texts, {}, 'More labels of it, such as those by which your Prometheus selects monitors.'),
  }),
  prometheusRule: group({
    enabled: withDefault(
      z.boolean(),
      false,
      "Creates a PrometheusRule with the alerts, for this release's namespace alone.",
    ),
    labels: withDefault(texts, {}, 'More labels of it, such as those by which your Prometheus selects rules.'),
  }),
  dashboard: group({
    enabled: withDefault(
      z.boolean(),
      false,
      "Creates a ConfigMap with the Grafana dashboard, which Grafana's sidecar imports.",
    ),
    label: withDefault(filled, 'grafana_dashboard', 'The label by which the sidecar finds it.'),
    annotations: withDefault(texts, {}, 'Annotations of it, such as the folder: `grafana_folder`.'),
  }),
  global: z
    .looseObject({
      imageRegistry: text.optional().describe('The registry of all images, for charts that contain this one.'),
      imagePullSecrets: z
        .array(z.union([text, z.looseObject({ name: text })]))
        .optional()
        .describe('Secrets for it, by name or as Kubernetes takes them.'),
    })
    .optional()
    .describe('Set by charts that contain this one.'),
});
