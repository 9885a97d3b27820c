import type { ToolDefinition } from '../../tools/define-tool';
import { parametersOf } from '../../tools/tool-parameters';

/** How a tool is written as one tag: which parameters are attributes, and whether one of them is the content. */
export interface TagShape {
  readonly tag: string;
  readonly attributes: readonly string[];
  readonly content: string | undefined;
  /** Parameters that are child elements; none if the content is a parameter. */
  readonly elements: readonly string[];
}

/** Uses the tool's own mapping if it has one; otherwise every parameter is an element, which can hold any text. */
export function tagShapeOf(tool: ToolDefinition): TagShape {
  const { tag = tool.name.replaceAll('_', '-'), attributes = [], content } = tool.xml ?? {};
  const others = [...parametersOf(tool).keys()].filter((name) => name !== content && !attributes.includes(name));
  return content === undefined
    ? { tag, attributes, content, elements: others }
    : { tag, attributes: [...attributes, ...others], content, elements: [] };
}
