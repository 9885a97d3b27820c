export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The objects of the chart as the cluster of `npm run cluster` takes them. */
export function translate(objects: readonly KubernetesObject[]): KubernetesObject[];
