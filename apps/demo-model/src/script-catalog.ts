import { Refusal } from './refusal';
import { pipeline, team, judge } from './scripts/agent-scripts';
import { coder } from './scripts/coder';
import { length, ask, empty, long, plain, summary, thinking, title } from './scripts/text-scripts';
import { site } from './scripts/site';
import { scripted } from './scripts/scripted';
import { error429, error500, hang, overloaded, reset, resetFirst } from './scripts/fault-scripts';
import { badArguments, badJson, loop, parallel, slowTool, unknownTool } from './scripts/tool-scripts';
import type { Conversation } from './script/script-conversation';
import { parseModelName, type Script } from './script/script';
import type { Turn } from './script/turn';

/** Every model of this server by its name; Rondo calls them `demo/<name>`. */
export const scripts: ReadonlyMap<string, Script> = new Map(
  Object.entries({
    coder,
    site,
    plain,
    ask,
    parallel,
    thinking,
    long,
    summary,
    title,
    judge,
    scripted,
    loop,
    'slow-tool': slowTool,
    team,
    pipeline,
    length,
    empty,
    'bad-json': badJson,
    'bad-arguments': badArguments,
    'unknown-tool': unknownTool,
    'error-429': error429,
    'error-500': error500,
    overloaded,
    hang,
    reset,
    'reset-first': resetFirst,
  }),
);

export function toReply(model: string, conversation: Conversation): Turn {
  const name = parseModelName(model);
  const script = scripts.get(name.script);
  if (!script) throw new Refusal('not_found', `The model '${model}' does not exist.`, { parameter: 'model' });
  return script.reply(conversation, name.parameters);
}
