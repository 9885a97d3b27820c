import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

export interface SeenCall {
  readonly name: string;
  readonly arguments: string;
}

export interface Drive {
  readonly model: string;
  readonly input: string;
  readonly tool: (call: SeenCall) => string;
  /** The user's answer to a question of the model. */
  readonly answer?: string;
  readonly maxTurns?: number;
}

export interface Driven {
  readonly calls: readonly SeenCall[];
  readonly finishReasons: readonly string[];
  /** The text of the last reply. */
  readonly text: string;
}

const toolNames = ['execute_command', 'create_file', 'full_file_rewrite', 'str_replace', 'deploy', 'ask', 'complete'];

/** A minimal agent with OpenAI's client: it answers tool calls until the model makes none. */
export async function driveOpenAi(client: OpenAI, drive: Drive): Promise<Driven> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: drive.input }];
  const seen = { calls: [] as SeenCall[], finishReasons: [] as string[], text: '' };

  for (let turn = 0; turn < (drive.maxTurns ?? 20); turn += 1) {
    const completion = await client.chat.completions
      .stream({
        model: drive.model,
        messages,
        stream_options: { include_usage: true },
        tools: toolNames.map((name) => ({
          type: 'function',
          function: { name, parameters: { type: 'object', properties: {} } },
        })),
      })
      .finalChatCompletion();
    const [choice] = completion.choices;
    if (!choice) throw new Error('The completion holds no choice');
    seen.finishReasons.push(choice.finish_reason);
    seen.text = choice.message.content ?? '';

    const calls = choice.message.tool_calls ?? [];
    if (calls.length === 0) return seen;
    const tool_calls = calls.map(({ id, function: { name, arguments: text } }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: text },
    }));
    messages.push({ role: 'assistant', content: seen.text || null, tool_calls });
    for (const call of tool_calls) {
      seen.calls.push(call.function);
      messages.push({ role: 'tool', tool_call_id: call.id, content: drive.tool(call.function) });
      if (call.function.name === 'ask') messages.push({ role: 'user', content: drive.answer ?? 'yes' });
    }
  }
  return seen;
}

/** The same with Anthropic's client. */
export async function driveAnthropic(client: Anthropic, drive: Drive): Promise<Driven> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: drive.input }];
  const seen = { calls: [] as SeenCall[], finishReasons: [] as string[], text: '' };

  for (let turn = 0; turn < (drive.maxTurns ?? 20); turn += 1) {
    const message = await client.messages
      .stream({
        model: drive.model,
        max_tokens: 1000,
        messages,
        tools: toolNames.map((name) => ({ name, input_schema: { type: 'object', properties: {} } })),
      })
      .finalMessage();
    seen.finishReasons.push(message.stop_reason ?? 'none');
    seen.text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');

    const calls = message.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return seen;
    seen.calls.push(...calls.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) })));
    messages.push({ role: 'assistant', content: message.content });
    messages.push({
      role: 'user',
      content: [
        ...calls.map(({ id, name, input }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: drive.tool({ name, arguments: JSON.stringify(input) }),
        })),
        ...(calls.some(({ name }) => name === 'ask') ? [{ type: 'text' as const, text: drive.answer ?? 'yes' }] : []),
      ],
    });
  }
  return seen;
}
