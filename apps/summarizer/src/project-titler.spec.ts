import { projectId } from '@rondo/contract';
import type { ModelRequest } from '@rondo/domain';
import { ScriptedModel, type Turn, says } from '@rondo/domain/testing';
import type { DueTitle } from '@rondo/persistence';
import { ProjectTitler } from './project-titler';

const due: DueTitle = { projectId: projectId.parse('prj_1'), model: 'openai/large', input: 'Write a poem.' };

function fixture(turn: Turn, { modelName, model = due.model }: { modelName?: string; model?: string } = {}) {
  const written: string[] = [];
  const requests: ModelRequest[] = [];
  const script = new ScriptedModel([turn]);
  const titler = new ProjectTitler({
    titles: {
      claim: () => Promise.resolve([{ ...due, model }]),
      set: (_id, title) => Promise.resolve(void written.push(title)),
    },
    model: { stream: (request, signal) => (requests.push(request), script.stream(request, signal)) },
    modelName,
  });
  return { titler, written, requests };
}

describe('ProjectTitler', () => {
  it('names a project by what the model writes', async () => {
    const { titler, written, requests } = fixture(says('"Autumn poem"\n'));
    expect(await titler.writeDue()).toBe(1);
    expect(written).toEqual(['Autumn poem']);
    expect(requests).toMatchObject([{ model: 'openai/large', tools: [] }]);
  });

  it.each([
    ['the configured model', { modelName: 'openai/small' }, 'openai/small'],
    ['the title model of the demo for runs on demo models', { model: 'demo/coder' }, 'demo/title'],
  ])('asks %s', async (_, given, asked) => {
    const { titler, requests } = fixture(says('A poem'), given);
    await titler.writeDue();
    expect(requests).toMatchObject([{ model: asked }]);
  });

  it('leaves the placeholder when the model writes nothing, and when it is stopped', async () => {
    const { titler, written } = fixture(says(''));
    await titler.writeDue();
    const stopped = fixture(says('Too late'));
    stopped.titler.stop();
    await stopped.titler.writeDue();
    expect([written, stopped.written]).toEqual([[], []]);
  });
});
