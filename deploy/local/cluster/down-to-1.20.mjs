/** The newest versions of these that an API server of 1.20 knows. Their fields that the chart uses have the same names. */
const olderVersions = {
  'PodDisruptionBudget policy/v1': 'policy/v1beta1',
  'HorizontalPodAutoscaler autoscaling/v2': 'autoscaling/v2beta2',
};

/**
 * The object as a Kubernetes 1.20 takes it: with the API versions of then, and without the fields of pods that came later. None of
 * them changes what a pod does, but `hostUsers`: without it, a pod's user is a user of the node.
 */
export function downTo120(object) {
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
