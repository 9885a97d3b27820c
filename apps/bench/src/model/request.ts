/** What the model must know of a request. Requests are not parsed: a thousand of them a second would take the core. */
export interface ModelRequest {
  readonly modelName: string;
  /** Names the run, as its input does. */
  readonly tag: string;
  /** How many calls of the run have been answered. */
  readonly turn: number;
}

const userRole = '"role":"user"';
const toolRole = '"role":"tool"'; // quotes within a message are escaped, so only a role itself looks like this
const modelNameShape = /"model":"([^"]+)"/;
const tagShape = /bench-run:(\w+)/;

/** The words by which the input of a run carries its tag. */
export const taggedInput = (tag: string): string => `bench-run:${tag} Do what the plan says.`;

export function readRequest(body: Buffer): ModelRequest {
  const task = body.lastIndexOf(userRole);
  const modelName = modelNameShape.exec(body.toString('latin1', 0, 400))?.[1];
  const tag = tagShape.exec(body.toString('latin1', task, task + 400))?.[1];
  if (modelName === undefined || tag === undefined) throw new Error('not a request of the bench');
  return { modelName, tag, turn: occurrences(body, toolRole, task) };
}

function occurrences(body: Buffer, word: string, from: number): number {
  let count = 0;
  for (let at = body.indexOf(word, from); at !== -1; at = body.indexOf(word, at + word.length)) count += 1;
  return count;
}
