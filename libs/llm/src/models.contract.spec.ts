import { type ProviderBehaviour, describeModel } from '@rondo/domain/testing';
import { createModels } from './models';
import { type ProtocolScript, anthropic, openAi } from './testing/protocol-scripts';
import { type Answer, ScriptedProvider } from './testing/scripted-provider';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());

function createAnswer(script: ProtocolScript, behaviour: ProviderBehaviour): Answer {
  if ('replies' in behaviour) return { pieces: script.whole(...behaviour.replies) };
  if ('calls' in behaviour) {
    const { name, arguments: input } = behaviour.calls;
    return { pieces: script.call(name, JSON.stringify(input)) };
  }
  if ('keepsSending' in behaviour) return { pieces: script.begun(behaviour.keepsSending), then: 'hang' };
  if ('breaksAfter' in behaviour) return { pieces: script.begun(behaviour.breaksAfter) };
  return { status: 400, pieces: [script.refused(behaviour.refuses)] };
}

for (const script of [openAi, anthropic]) {
  describeModel(`a model of a provider that speaks ${script.kind}`, (behaviour) => {
    provider.will(createAnswer(script, behaviour));
    const baseUrl = `${provider.url}${script.basePath}`;
    const settings = { name: 'acme', kind: script.kind, baseUrl, apiKey: 'key', headers: {}, models: [] };
    return { model: createModels({ providers: [settings] }), name: 'acme/some-model' };
  });
}
