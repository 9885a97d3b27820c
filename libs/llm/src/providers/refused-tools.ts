import { type ModelTool, type ProfileRules, memoize } from '@rondo/domain';
import { addRefused, toHash } from './refused-parts';

/** How the schemas of tools are sent to a server, and those that it takes in no form. */
export interface ToolRules extends Pick<ProfileRules, 'plainSchemas'> {
  /** Their hashes: another run may have a tool of the same name. */
  readonly refusedTools?: ReadonlySet<string>;
}

const hashTool = memoize(({ name, schema }: ModelTool) => toHash({ name, schema }));

const aboutSchemas = /\bschemas?\b|grammar|input_schema|function_?declarations?|\btools(?:\[|\.)\d/i;
/** The schema of a reply is the run's own. */
const aboutReplies = /response_format|text\.format|output_config/i;

/**
 * The rules with what a refusal of tools teaches: first that schemas have to be plain, then which tool is refused even so. One
 * tool of an outside server would otherwise fail every request that offers it.
 */
export function learnTools<Rules extends ToolRules>(
  rules: Rules,
  tools: readonly ModelTool[],
  message: string,
): Rules | undefined {
  if (tools.length === 0 || !aboutSchemas.test(message) || aboutReplies.test(message)) return undefined;
  if (!rules.plainSchemas) return { ...rules, plainSchemas: true };
  const tool = findNamed(listAcceptedTools(tools, rules), message);
  return tool && { ...rules, refusedTools: addRefused(rules.refusedTools, [hashTool(tool)]) };
}

export const listAcceptedTools = (tools: readonly ModelTool[], { refusedTools }: ToolRules): readonly ModelTool[] =>
  refusedTools ? tools.filter((tool) => !refusedTools.has(hashTool(tool))) : tools;

const quotes = ["'", '"', '`'];

/** Servers name the tool, or give its place in the list. */
function findNamed(tools: readonly ModelTool[], message: string): ModelTool | undefined {
  const quoted = tools.find(({ name }) => quotes.some((quote) => message.includes(`${quote}${name}${quote}`)));
  const place = /function_?declarations?\[(\d+)/i.exec(message)?.[1] ?? /\btools(?:\[|\.)(\d+)/i.exec(message)?.[1];
  return quoted ?? (place === undefined ? undefined : tools[Number(place)]);
}
