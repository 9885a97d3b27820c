import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { SamplerName, TracingSettings } from './tracing-variables';

const always = new AlwaysOnSampler();
const never = new AlwaysOffSampler();
const toShare = (ratio: number) => new TraceIdRatioBasedSampler(ratio);
const unlessToldBy = (root: Sampler) => new ParentBasedSampler({ root });

const samplers: Record<SamplerName, (ratio: number) => Sampler> = {
  always_on: () => always,
  always_off: () => never,
  traceidratio: toShare,
  parentbased_always_on: () => unlessToldBy(always),
  parentbased_always_off: () => unlessToldBy(never),
  parentbased_traceidratio: (ratio) => unlessToldBy(toShare(ratio)),
};

/** Services that decide nothing have no sampler variables: they record what they are told belongs to a trace. */
export function toSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio = 1 }: TracingSettings): Sampler {
  return name === undefined ? always : samplers[name](ratio);
}
