import { promptPart } from '../replay/prompt-part';
import type { PromptPart } from '../protocol';
import type { AnthropicRequest } from './served-anthropic-request';

/** The prompt in the order in which the model reads it: tools, system prompt, blocks. A cache mark belongs to its block. */
export function toPrompt({ tools = [], system, messages }: AnthropicRequest): PromptPart[] {
  const blocks = messages.flatMap(({ role, content }) => toList(content).map((block) => ({ role, block })));
  return [
    ...tools.map((tool) => promptPart(tool, isMarked(tool))),
    ...toList(system ?? []).map((block) => promptPart(block, isMarked(block))),
    ...blocks.map((entry) => promptPart(entry, isMarked(entry.block))),
  ];
}

const toList = (content: string | readonly object[]): readonly object[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const isMarked = (block: object): boolean => 'cache_control' in block && Boolean(block.cache_control);
