import { withDefault, text, fields, listOfFields, texts } from './value-types.mjs';

/** What can be said of all pods, at the top, and of the pods of one service, under its name. */
export const podSettings = {
  podLabels: withDefault(texts, {}, 'More labels of the pods.'),
  podAnnotations: withDefault(texts, {}, 'Annotations of the pods.'),
  nodeSelector: withDefault(texts, {}, 'The labels of the nodes on which pods run.'),
  affinity: withDefault(fields, {}, 'Where pods run, by nodes and by other pods.'),
  tolerations: withDefault(listOfFields, [], 'The taints of nodes that pods tolerate.'),
  topologySpreadConstraints: withDefault(
    listOfFields,
    [],
    'How the pods of a service spread, instead of over the nodes where possible. A constraint without `labelSelector` gets that of the service.',
  ),
  priorityClassName: withDefault(text, '', 'The PriorityClass of the pods.'),
  schedulerName: withDefault(text, '', 'The scheduler of the pods, if not the usual one.'),
  serviceAccountName: withDefault(
    text,
    '',
    'A ServiceAccount that is there. At the top it stands for the one that the chart creates otherwise.',
  ),
  hostAliases: withDefault(listOfFields, [], 'Names and addresses for `/etc/hosts`.'),
  dnsPolicy: withDefault(text, '', 'Where pods resolve names.'),
  dnsConfig: withDefault(fields, {}, 'More settings of name resolution.'),
  podSecurityContext: withDefault(
    fields,
    {
      ...{ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    'The security context of the pods. `null` removes a field, such as `runAsUser` where the cluster gives users to pods. The bundled servers and privileged executors have their own.',
  ),
  securityContext: withDefault(
    fields,
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    'The security context of their containers. The bundled servers and privileged executors have their own.',
  ),
  envFrom: withDefault(listOfFields, [], 'Secrets and ConfigMaps whose keys become variables.'),
  extraVolumes: withDefault(listOfFields, [], 'More volumes.'),
  extraVolumeMounts: withDefault(listOfFields, [], 'More mounts of their containers.'),
  initContainers: withDefault(
    listOfFields,
    [],
    'Containers that run before the service, or beside it (`restartPolicy: Always`).',
  ),
  extraContainers: withDefault(listOfFields, [], 'Containers that run beside the service.'),
};

const podsOfOne = Object.fromEntries(
  Object.entries(podSettings).map(([name, schema]) => [
    name,
    schema.unwrap().optional().describe(`As \`${name}\` at the top, for these pods alone.`),
  ]),
);

/** What each workload of the chart can be told. */
export const workload = {
  labels: withDefault(texts, {}, 'More labels of its objects.'),
  annotations: withDefault(texts, {}, 'Annotations of its objects.'),
  ...podsOfOne,
};
