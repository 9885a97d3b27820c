import { z } from 'zod';
import { parseConfig } from '../load-config';
import { toPairs, samplingVariables, tracesUrl, tracingVariables } from './tracing-variables';

const schema = z.object({ ...tracingVariables, ...samplingVariables });

describe('the variables of tracing', () => {
  it('leave it off, and show no content', () => {
    const settings = parseConfig(schema, {});

    expect(tracesUrl(settings)).toBeUndefined();
    expect(settings).toMatchObject({
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false,
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
    });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://host/otlp/' }, 'https://host/otlp/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://host/in' }, 'https://host/in'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/in' }, 'http://b/in'],
  ])('name the collector as the standard says: %j', (env, url) => {
    expect(tracesUrl(parseConfig(schema, env))).toBe(url);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,c'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'perhaps'],
  ])('are refused if they make no sense: %s=%s', (name, value) => {
    expect(() => parseConfig(schema, { [name]: value })).toThrow(name);
  });
});

describe('name=value pairs', () => {
  it('are percent-decoded, and may contain "="', () => {
    expect(toPairs('authorization=Basic%20a2V5=, x-scope = a b')).toEqual({
      authorization: 'Basic a2V5=',
      'x-scope': 'a b',
    });
  });

  it('stay as they are where a % encodes nothing', () => {
    expect(toPairs('share=50%')).toEqual({ share: '50%' });
    expect(toPairs('share=%C3%28')).toEqual({ share: '%C3%28' });
    expect(toPairs(undefined)).toEqual({});
  });
});
