/** Where the type of each kind is declared. */
const types: Record<string, { name: string; from: string }> = {
  ConfigMap: { name: 'ConfigMap', from: 'kubernetes-types/core/v1.js' },
  Deployment: { name: 'Deployment', from: 'kubernetes-types/apps/v1.js' },
  HorizontalPodAutoscaler: { name: 'HorizontalPodAutoscaler', from: 'kubernetes-types/autoscaling/v2.js' },
  HTTPRoute: { name: 'IHTTPRoute', from: '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute' },
  Ingress: { name: 'Ingress', from: 'kubernetes-types/networking/v1.js' },
  Job: { name: 'Job', from: 'kubernetes-types/batch/v1.js' },
  NetworkPolicy: { name: 'NetworkPolicy', from: 'kubernetes-types/networking/v1.js' },
  Pod: { name: 'Pod', from: 'kubernetes-types/core/v1.js' },
  PodDisruptionBudget: { name: 'PodDisruptionBudget', from: 'kubernetes-types/policy/v1.js' },
  PodMonitor: {
    name: 'IPodMonitor',
    from: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor',
  },
  PrometheusRule: {
    name: 'IPrometheusRule',
    from: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
  },
  ScaledObject: { name: 'IScaledObject', from: '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject' },
  Service: { name: 'Service', from: 'kubernetes-types/core/v1.js' },
  ServiceAccount: { name: 'ServiceAccount', from: 'kubernetes-types/core/v1.js' },
  StatefulSet: { name: 'StatefulSet', from: 'kubernetes-types/apps/v1.js' },
  TriggerAuthentication: {
    name: 'ITriggerAuthentication',
    from: '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication',
  },
};

/**
 * A module that declares each object with the type of its kind. TypeScript then refuses wrong values, missing fields and, in
 * such literals, fields that do not exist, which the schemas of the API allow.
 */
export function listObjectTypes(objects: readonly { kind: string }[]): string {
  const kinds = [...new Set(objects.map(({ kind }) => kind))];
  const imports = kinds.map((kind) => {
    const type = types[kind];
    if (!type) throw new Error(`say in kubernetes-types.ts where the type of ${kind} is declared`);
    return `import type { ${type.name} as ${kind} } from '${type.from}';`;
  });
  const declared = objects.map(
    (object, index) => `export const o${index}: ${object.kind} = ${JSON.stringify(object)};`,
  );
  return [...imports, ...declared, ''].join('\n');
}
