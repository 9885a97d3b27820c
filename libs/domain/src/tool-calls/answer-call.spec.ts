import { sha256 } from '@rondo/contract';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';

const image = { sha256: sha256.parse('b'.repeat(64)), media_type: 'image/jpeg', width: 5, height: 5 } as const;

it.each(['see_image', 'display_image'])(
  'an image that %s shows is a state message, which no model is sent',
  async (name) => {
    const model = new ScriptedModel([calls({ name, arguments: { file_path: 'dot.png' } }), says('A dot.')]);
    const tools = new LedgeredTools(() => ({ success: true, output: 'dot.png: 5 x 5 pixels', image }));
    const harness = new RunHarness({ model, tools, settings: { tools: [name] } });

    await harness.activate();

    const at = harness.types.indexOf('tool.completed');
    const [completed, result, shown] = harness.log.slice(at, at + 3);
    expect(completed).toMatchObject({ data: { result: { image } } });
    expect(result).toMatchObject({ data: { message: { type: 'tool', is_llm_message: true } } });
    expect(shown).toMatchObject({
      type: 'message.created',
      data: {
        message: {
          type: 'image_context',
          is_llm_message: false,
          content: [{ type: 'image', source: { type: 'blob', ...image } }],
          metadata: { file_path: 'dot.png', tool_call_id: expect.stringMatching(/^call_/) as string },
        },
      },
    });
    const sent = JSON.stringify(model.requests[1]);
    expect(sent.split(image.sha256)).toHaveLength(2);
  },
);
