import { type ModelTool, type ProfileRules, memoize } from '@rondo/domain';
import { addRefused, toHash } from './refused-parts';

/** How the schemas of tools are sent to a server, and those that it takes in no form. */
export interface ToolRules extends Pick<ProfileRules, 'plainSchemas'> {
  /** The hashes of those whose schemas have to be plain, where not all have. */
  readonly plainTools?: ReadonlySet<string>;
  /** Their hashes: another run may have a tool of the same name. */
  readonly refusedTools?: ReadonlySet<string>;
}

const hashTool = memoize(({ name, schema }: ModelTool) => toHash({ name, schema }));

const aboutSchemas = /\bschemas?\b|grammar|input_schema|function_?declarations?|\btools(?:\[|\.)\d/i;
/** The schema of a reply is the run's own. */
const aboutReplies = /response_format|text\.format|output_config/i;

/** A server that has refused so many of a request by name will refuse others: a request can be sent again only a few times. */
const mostNamed = 2;

/**
 * The rules with what a refusal of tools teaches: first that the schemas of those that it names have to be plain, or all where it
 * names none, then which tool is refused even so. One tool of an outside server would otherwise fail every request that offers it.
 */
export function learnTools<Rules extends ToolRules>(
  rules: Rules,
  tools: readonly ModelTool[],
  message: string,
): Rules | undefined {
  if (tools.length === 0 || !aboutSchemas.test(message) || aboutReplies.test(message)) return undefined;
  const accepted = listAcceptedTools(tools, rules);
  const named = listNamed(accepted, message);
  const rich = named.filter((tool) => !needsPlainSchema(tool, rules));
  if (rich.length > 0 && accepted.filter((tool) => needsPlainSchema(tool, rules)).length < mostNamed)
    return { ...rules, plainTools: addRefused(rules.plainTools, rich.map(hashTool)) };
  if (!rules.plainSchemas && (named.length === 0 || rich.length > 0)) return { ...rules, plainSchemas: true };
  const [tool] = named;
  return tool && { ...rules, refusedTools: addRefused(rules.refusedTools, [hashTool(tool)]) };
}

export const needsPlainSchema = (tool: ModelTool, { plainSchemas = false, plainTools }: ToolRules): boolean =>
  plainSchemas || plainTools?.has(hashTool(tool)) === true;

export const listAcceptedTools = (tools: readonly ModelTool[], { refusedTools }: ToolRules): readonly ModelTool[] =>
  refusedTools ? tools.filter((tool) => !refusedTools.has(hashTool(tool))) : tools;

const quotes = ["'", '"', '`'];

/** Servers name tools, or give their places in the list. */
function listNamed(tools: readonly ModelTool[], message: string): readonly ModelTool[] {
  const quoted = tools.filter(({ name }) => quotes.some((quote) => message.includes(`${quote}${name}${quote}`)));
  if (quoted.length > 0) return quoted;
  const ofDeclarations = [...message.matchAll(/function_?declarations?\[(\d+)/gi)];
  const places = ofDeclarations.length > 0 ? ofDeclarations : [...message.matchAll(/\btools(?:\[|\.)(\d+)/gi)];
  return [...new Set(places.map(([, place]) => Number(place)))].flatMap((place) => tools[place] ?? []);
}
