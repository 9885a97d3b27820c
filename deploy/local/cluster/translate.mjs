/** The name of the metric with the runs to serve, as the autoscaler of Kubernetes asks for it. */
export const runsToServe = 'rondo-runs-to-serve';

/**
 * What KEDA's operator makes of a ScaledObject with one trigger: an autoscaler on an external metric, with the same limits, target
 * and behavior. Its login is no object of Kubernetes' own.
 */
function inPlaceOfKeda(object) {
  if (object.kind === 'TriggerAuthentication') return [];
  if (object.kind !== 'ScaledObject') return [object];
  const { scaleTargetRef, minReplicaCount, maxReplicaCount, advanced, triggers } = object.spec;
  const target = { type: 'AverageValue', averageValue: triggers[0].metadata.targetQueryValue };
  return [
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: object.metadata,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', ...scaleTargetRef },
        minReplicas: Math.max(1, minReplicaCount),
        maxReplicas: maxReplicaCount,
        metrics: [{ type: 'External', external: { metric: { name: runsToServe }, target } }],
        behavior: advanced.horizontalPodAutoscalerConfig.behavior,
      },
    },
  ];
}

/** The newest versions of these that an API server of 1.20 knows. Their fields that the chart uses have the same names. */
const olderVersions = {
  'PodDisruptionBudget policy/v1': 'policy/v1beta1',
  'HorizontalPodAutoscaler autoscaling/v2': 'autoscaling/v2beta2',
};

/**
 * The object as a Kubernetes 1.20 takes it: with the API versions of then, and without the fields of pods that came later. None of
 * them changes what a pod does, but `hostUsers`: without it, a pod's user is a user of the node.
 */
function downTo120(object) {
  const apiVersion = olderVersions[`${object.kind} ${object.apiVersion}`] ?? object.apiVersion;
  const template = object.spec?.template?.spec;
  if (template)
    return { ...object, apiVersion, spec: { ...object.spec, template: olderTemplate(object.spec.template) } };
  return { ...object, apiVersion, ...(object.kind === 'Pod' && { spec: olderPod(object.spec) }) };
}

function olderTemplate(template) {
  return { ...template, spec: olderPod(template.spec) };
}

function olderPod({ hostUsers: _users, ...spec }) {
  return {
    ...spec,
    ...(spec.securityContext && { securityContext: olderContext(spec.securityContext) }),
    containers: spec.containers.map((container) => ({
      ...container,
      ...(container.securityContext && { securityContext: olderContext(container.securityContext) }),
    })),
  };
}

function olderContext({ appArmorProfile: _profile, ...context }) {
  return context;
}

/**
 * The objects of the chart as the cluster of `npm run cluster` takes them.
 *
 * @typedef {{ apiVersion: string, kind: string, metadata: { name: string }, [field: string]: unknown }} KubernetesObject
 *
 * @param {readonly KubernetesObject[]} objects
 * @returns {KubernetesObject[]}
 */
export function translate(objects) {
  return objects.flatMap(inPlaceOfKeda).map(downTo120).map(forOlderNats);
}

/** Debian's NATS refuses a setting that it does not know. */
function forOlderNats(object) {
  const text = object.kind === 'ConfigMap' && object.data['rondo.conf'];
  if (!text) return object;
  return { ...object, data: { ...object.data, 'rondo.conf': text.replace(/^ *sync_interval:.*\n/m, '') } };
}
