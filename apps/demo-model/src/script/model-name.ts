import { Refusal } from '../refusal';

export interface ModelName {
  readonly script: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const shape = /^(?:demo\/)?([a-z0-9-]+)(?::(.*))?$/s;
const pairShape = /^([a-z_]+)=([^=]+)$/;

/** `plain`, `demo/plain` and `plain:tokens=200,pace_ms=20` name the script `plain`. */
export function parseModelName(model: string): ModelName {
  const [, script, list] = shape.exec(model) ?? [];
  if (script === undefined)
    throw new Refusal('not_found', `The model '${model}' does not exist.`, { parameter: 'model' });
  if (list === undefined) return { script, parameters: {} };

  const pairs = list.split(',').map((pair): [string, string] => {
    const [, name, value] = pairShape.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw badModel(`'${pair}' is not of the form name=value`);
    return [name, value];
  });
  const parameters = Object.fromEntries(pairs);
  if (Object.keys(parameters).length < pairs.length) throw badModel('a parameter is given twice');
  return { script, parameters };
}

export const badModel = (reason: string): Refusal =>
  new Refusal('invalid_request', `Invalid model name: ${reason}.`, { parameter: 'model' });
