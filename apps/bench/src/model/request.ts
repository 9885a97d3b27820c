/** The parts of a request that the model needs. They are searched for, because parsing 1,000 requests a second would fill its core. */
export interface ModelRequest {
  readonly modelName: string;
  /** Identifies the run; it is part of the run's input. */
  readonly tag: string;
  /** How many calls of the run have been answered. */
  readonly turn: number;
}

const userRole = '"role":"user"';
const toolRole = '"role":"tool"'; // quotes within a message are escaped, so only a role itself looks like this
const modelNameShape = /"model":"([^"]+)"/;
const tagShape = /bench-run:(\w+)/;

/** The input of a run, which contains its tag. */
export const tagInput = (tag: string): string => `bench-run:${tag} Do what the plan says.`;

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

/** The system prompt of Rondo's agent and of the bare loop. */
export const systemPrompt =
  'You are an agent that does what the user asks. Call a tool when you need it. When the task is done, say so in a few words.';
