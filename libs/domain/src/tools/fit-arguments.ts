import { type ArgumentChange, findInexactNumber, readJson } from '@rondo/contract';
import { type ToolDefinition, argumentsSchema } from './define-tool';

type Json = Readonly<Record<string, unknown>>;

export interface FittedArguments {
  readonly arguments: Record<string, unknown>;
  /** What was changed, the first twenty; empty where the arguments are as the model wrote them. */
  readonly changes: readonly ArgumentChange[];
}

const mostChanges = 20;

/**
 * The arguments of a call as the tool's schema has them, where what the model wrote can mean only one thing: null for an
 * optional parameter is its absence, a number, a truth value, a list or an object as text is what the text says, and what a
 * closed schema does not have is left out. Arguments that are valid stay as they are, and so does text for a parameter that
 * takes text ("0042"). What remains invalid is not guessed at: it is refused where the arguments are parsed.
 */
export function fitArguments(tool: ToolDefinition, given: Record<string, unknown>): FittedArguments {
  const root = argumentsSchema(tool);
  if (isValidBuiltIn(tool, given)) return { arguments: given, changes: [] };
  const changes: ArgumentChange[] = [];
  const fitted = new Fitting(root, changes).fit(root, given, []);
  return { arguments: isObject(fitted) ? { ...fitted } : given, changes: changes.slice(0, mostChanges) };
}

/** The parser of a built-in tool may accept more than its schema says. */
const isValidBuiltIn = (tool: ToolDefinition, given: unknown): boolean =>
  tool.source === undefined && tool.input.safeParse(given).success;

const deepest = 32;

class Fitting {
  constructor(
    private readonly root: Json,
    private readonly changes: ArgumentChange[],
  ) {}

  /** The value itself unless the schema refuses it. */
  fit(schema: unknown, value: unknown, path: readonly (string | number)[]): unknown {
    const rule = this.resolve(schema);
    if (!rule || path.length > deepest || this.accepts(rule, value)) return value;
    const choices = readChoices(rule);
    if (choices) return this.fitChoice(choices, value, path);

    const parsed = typeof value === 'string' ? this.parse(rule, value, path) : value;
    if (Array.isArray(parsed)) return this.fitItems(rule, parsed, path);
    return isObject(parsed) ? this.fitProperties(rule, parsed, path) : parsed;
  }

  /** The first choice that accepts what it makes of the value. */
  private fitChoice(choices: readonly unknown[], value: unknown, path: readonly (string | number)[]): unknown {
    for (const choice of choices) {
      const changes: ArgumentChange[] = [];
      const fitted = new Fitting(this.root, changes).fit(choice, value, path);
      const rule = this.resolve(choice);
      if (!rule || !this.accepts(rule, fitted)) continue;
      this.changes.push(...changes);
      return fitted;
    }
    return value;
  }

  private parse(rule: Json, text: string, path: readonly (string | number)[]): unknown {
    const types = readTypes(rule);
    if (types.length === 0 || types.includes('string')) return text;
    const parsed = readExactJson(text);
    if (parsed === undefined || !types.some((type) => isOfType(type, parsed))) return text;
    this.note(path, 'parsed');
    return parsed;
  }

  private fitItems(rule: Json, items: readonly unknown[], path: readonly (string | number)[]): unknown {
    return items.map((item, index) => this.fit(rule['items'], item, [...path, index]));
  }

  private fitProperties(rule: Json, value: Json, path: readonly (string | number)[]): unknown {
    const properties = isObject(rule['properties']) ? rule['properties'] : {};
    const isClosed = rule['additionalProperties'] === false && rule['patternProperties'] === undefined;
    const entries = Object.entries(value).flatMap(([key, given]): [string, unknown][] => {
      const own = [...path, key];
      if (!Object.hasOwn(properties, key)) return isClosed ? this.leaveOut(own, 'unknown_left_out') : [[key, given]];
      const fitted = this.fit(properties[key], given, own);
      const isAbsent = (given === null || given === 'null') && !this.acceptsAs(properties[key], fitted);
      if (isAbsent && !readRequired(rule).includes(key)) return this.leaveOut(own, 'null_left_out');
      return [[key, fitted]];
    });
    return Object.fromEntries(entries);
  }

  private leaveOut(path: readonly (string | number)[], change: ArgumentChange['change']): [] {
    this.note(path, change);
    return [];
  }

  private note(path: readonly (string | number)[], change: ArgumentChange['change']): void {
    this.changes.push({ path: path.join('.').slice(0, 200), change });
  }

  private acceptsAs(schema: unknown, value: unknown): boolean {
    const rule = this.resolve(schema);
    return !rule || this.accepts(rule, value);
  }

  /** Whether the value is valid, as far as that says what it is. In doubt it is, so that it is not changed. */
  private accepts(rule: Json, value: unknown, depth = 0): boolean {
    if (depth > deepest) return true;
    const choices = readChoices(rule);
    if (choices && !choices.some((choice) => this.isAccepted(choice, value, depth))) return false;
    const types = readTypes(rule);
    if (types.length > 0 && !types.some((type) => isOfType(type, value))) return false;
    if (Array.isArray(value)) return value.every((item) => this.isAccepted(rule['items'], item, depth));
    return !isObject(value) || this.acceptsProperties(rule, value, depth);
  }

  private isAccepted(schema: unknown, value: unknown, depth: number): boolean {
    const rule = this.resolve(schema);
    return !rule || this.accepts(rule, value, depth + 1);
  }

  private acceptsProperties(rule: Json, value: Json, depth: number): boolean {
    const properties = isObject(rule['properties']) ? rule['properties'] : {};
    const isClosed = rule['additionalProperties'] === false && rule['patternProperties'] === undefined;
    return (
      readRequired(rule).every((key) => Object.hasOwn(value, key)) &&
      Object.entries(value).every(([key, one]) =>
        Object.hasOwn(properties, key) ? this.isAccepted(properties[key], one, depth) : !isClosed,
      )
    );
  }

  /** The schema that a local reference means; undefined for one that allows anything, or that is not understood. */
  private resolve(schema: unknown): Json | undefined {
    let rule = schema;
    for (let steps = 0; isObject(rule) && typeof rule['$ref'] === 'string'; steps++) {
      const { $ref: reference, ...beside } = rule;
      const found = steps < deepest ? this.lookUp(reference) : undefined;
      if (!isObject(found)) return undefined;
      rule = { ...found, ...beside };
    }
    return isObject(rule) ? rule : undefined;
  }

  private lookUp(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    const steps = reference.split('/').slice(1);
    return steps.reduce<unknown>(
      (at, step) => (isObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      this.root,
    );
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const readChoices = ({ anyOf, oneOf }: Json): readonly unknown[] | undefined =>
  isList(anyOf) ? anyOf : isList(oneOf) ? oneOf : undefined;

const readRequired = ({ required }: Json): readonly string[] =>
  isList(required) ? required.filter((key) => typeof key === 'string') : [];

/** Empty where the schema does not say it. */
function readTypes({ type, enum: values, nullable }: Json): readonly string[] {
  const named = [type ?? []].flat().filter((one): one is string => typeof one === 'string');
  const listed = named.length === 0 && isList(values) ? values.map(typeOfValue) : named;
  return listed.length > 0 && nullable === true ? [...listed, 'null'] : listed;
}

const typeOfValue = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const isOfType = (type: string, value: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOfValue(value) === type;

/** Undefined for text that is no JSON, or whose numbers would not be those that are written. */
function readExactJson(text: string): unknown {
  const word = /^\s*(?:true|false)\s*$/i.test(text) ? text.toLowerCase() : text;
  return findInexactNumber(word) === undefined ? readJson(word) : undefined;
}
