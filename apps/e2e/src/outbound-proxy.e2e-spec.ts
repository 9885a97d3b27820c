import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConnectProxy } from '@rondo/platform/testing';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { OtlpReceiver } from './otlp-receiver';

it('spans are sent to the collector through HTTP_PROXY', async () => {
  const collector = await OtlpReceiver.start();
  const proxy = await ConnectProxy.start({ 'collector.invalid:4318': Number(new URL(collector.url).port) });
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.invalid:4318',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false,
    HTTP_PROXY: proxy.url,
  };
  const program = `
    const { createLogger, openTracing } = require('@rondo/platform');
    const log = createLogger({ name: 'spec', level: 'silent' });
    openTracing(${JSON.stringify(settings)}, { service: 'spec', log }).then(async (tracing) => {
      tracing.begin({ name: 'work', kind: 'internal', attributes: {} })?.end();
      await tracing.close();
    });`;

  await promisify(execFile)(process.execPath, ['-e', program], { cwd: repoRoot });

  expect(collector.spans).toMatchObject([{ service: 'spec', name: 'work' }]);
  expect(proxy.asked).toEqual(['collector.invalid:4318']);
  expect(proxy.refused).toEqual([]);
  proxy.stop();
  await collector.stop();
});
