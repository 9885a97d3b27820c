/** The name of the metric with the runs to serve, as the autoscaler of Kubernetes asks for it. */
export const runsToServe = 'rondo-runs-to-serve';

/**
 * What KEDA's operator makes of a ScaledObject with one trigger: an autoscaler on an external metric, with the same limits, target
 * and behavior. Its login is no object of Kubernetes' own.
 */
export function inPlaceOfKeda(object) {
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
