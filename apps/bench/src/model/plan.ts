/** What the scripted model does in a run. It is encoded in the model's name, so that the model server needs no state. */
export interface Plan {
  /** Answers that call the tool, before the one that ends the run. */
  readonly toolTurns: number;
  /** Length of the last answer. */
  readonly tokens: number;
  /** From a request to its first token. */
  readonly delayMs: number;
  /** Between two tokens of the last answer; 0 sends it as fast as possible. */
  readonly paceMs: number;
  readonly tool: ToolOfPlan;
  /** Milliseconds that the tool takes, if it is `execute_command`. */
  readonly toolMs: number;
  /** The last answer waits until it is released. */
  readonly held: boolean;
}

/** The cheapest tool that uses the ledger and the executor; one with an effect; one that waits for a person. */
export type ToolOfPlan = 'list_commands' | 'execute_command' | 'ask';

export const ordinary: Plan = {
  toolTurns: 9,
  tokens: 32,
  delayMs: 0,
  paceMs: 0,
  tool: 'list_commands',
  toolMs: 0,
  held: false,
};

export const toModelName = (plan: Plan): string =>
  Object.entries(plan)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const known = new Map<string, Plan>();

export function toPlan(modelName: string): Plan {
  const plan = known.get(modelName) ?? parsePlan(modelName);
  known.set(modelName, plan);
  return plan;
}

function parsePlan(modelName: string): Plan {
  const given = new Map(modelName.split(',').map((pair) => pair.split('=') as [string, string])); // written by toModelName
  const number = (key: keyof Plan) => Number(given.get(key));
  return {
    toolTurns: number('toolTurns'),
    tokens: number('tokens'),
    delayMs: number('delayMs'),
    paceMs: number('paceMs'),
    toolMs: number('toolMs'),
    tool: given.get('tool') as ToolOfPlan,
    held: given.get('held') === 'true',
  };
}
