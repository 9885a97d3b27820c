import { Refusal } from '../refusal';
import { ask } from '../scripts/ask';
import { badArguments } from '../scripts/bad-arguments';
import { badJson } from '../scripts/bad-json';
import { coder } from '../scripts/coder';
import { empty } from '../scripts/empty';
import { error429 } from '../scripts/error-429';
import { error500 } from '../scripts/error-500';
import { hang } from '../scripts/hang';
import { length } from '../scripts/length';
import { long } from '../scripts/long';
import { loop } from '../scripts/loop';
import { overloaded } from '../scripts/overloaded';
import { parallel } from '../scripts/parallel';
import { plain } from '../scripts/plain';
import { reset } from '../scripts/reset';
import { resetFirst } from '../scripts/reset-first';
import { scripted } from '../scripts/scripted';
import { slowTool } from '../scripts/slow-tool';
import { summary } from '../scripts/summary';
import { thinking } from '../scripts/thinking';
import { unknownTool } from '../scripts/unknown-tool';
import type { Conversation } from './conversation';
import { parseModelName } from './model-name';
import type { Script } from './script';
import type { Turn } from './turn';

/** Every model that this server offers, by the name that Rondo calls `demo/<name>`. */
export const scripts: ReadonlyMap<string, Script> = new Map(
  Object.entries({
    coder,
    plain,
    ask,
    parallel,
    thinking,
    long,
    summary,
    scripted,
    loop,
    'slow-tool': slowTool,
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

export function replyOf(model: string, conversation: Conversation): Turn {
  const name = parseModelName(model);
  const script = scripts.get(name.script);
  if (!script) throw new Refusal('not_found', `The model '${model}' does not exist.`, { parameter: 'model' });
  return script.reply(conversation, name.parameters);
}
