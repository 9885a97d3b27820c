import { createHash } from 'node:crypto';
import { LruCache } from '@rondo/platform';
import {
  argumentsJsonSchema,
  findArgumentsProblem,
  findSchemaProblem,
  schemaLimits,
  type ExecutorResult,
  type McpTool,
  type ToolResult,
  toFailedResult,
} from '@rondo/contract';
import type { z } from 'zod';
import { ParserSlots } from '../../parsing/parser-slots';
import { readableLine, isReadable, readableText } from '../readable-text';
import { type SchemaCheck, type SchemaOutcome, SchemaProcess } from './schema-process';
import { type KeepBytes, type McpAnswer, toResult } from '../mcp-result';

type ArgumentsSchema = z.infer<typeof argumentsJsonSchema>;

/** Why a schema is refused, as the end of a sentence about it. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/** The schema of a tool's arguments, made of readable text. A server may claim anything in it. */
export const checkSchema = (given: unknown): ArgumentsSchema => withoutProblem(given, findArgumentsProblem);

/** The schema of an object, of limited size, that refers to no other document. What else it costs, a SchemaChecker limits. */
export const boundSchema = (given: unknown): ArgumentsSchema => withoutProblem(given, findSchemaProblem);

function withoutProblem(given: unknown, findProblem: (schema: unknown) => string | undefined): ArgumentsSchema {
  const copy = copyWithin(given, { depth: 0, budget: { values: schemaLimits.values } });
  const problem = findProblem(copy);
  if (problem !== undefined) throw refuse(problem);
  return argumentsJsonSchema.parse(copy);
}

const refuse = (why: string) => new SchemaRefused(why);

interface Place {
  readonly depth: number;
  readonly budget: { values: number };
}

function copyWithin(value: unknown, { depth, budget }: Place): unknown {
  if (depth > schemaLimits.depth) throw refuse(`is nested more than ${schemaLimits.depth} levels`);
  if (--budget.values < 0) throw refuse(`has more than ${schemaLimits.values} values`);
  const next = { depth: depth + 1, budget };
  if (typeof value === 'string') return readableText(value);
  if (Array.isArray(value)) return value.map((item) => copyWithin(item, next));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (!isReadable(key) || key === '__proto__') throw refuse('has an unreadable name');
    return [key, copyWithin(item, next)] as const;
  });
  return Object.fromEntries(entries);
}

type Schema = SchemaCheck['schema'];

interface SchemaLimits {
  /** Processes at the same time; others wait. */
  readonly processes: number;
  /** Of all schemas of a server together, once a process is there. */
  readonly listMs: number;
  /** Of the arguments or the result of one call. */
  readonly valueMs: number;
}

const usualLimits: SchemaLimits = { processes: 2, listMs: 5_000, valueMs: 2_000 };
const keptVerdicts = 4_000;
const shownCharacters = 300;
const usable = '';
const tooCostly: SchemaOutcome = { schema: 'takes too long to be checked' };

/**
 * Checks schemas of MCP servers, and values against them. A schema is hostile: its patterns and references can cost any time
 * and memory, so it is used in a process of its own, which ends at its limits.
 */
export class SchemaChecker {
  private readonly slots: ParserSlots;
  private readonly idle: SchemaProcess[] = [];
  private isClosed = false;
  /** Why a schema cannot be used, by its hash; empty where it can. */
  private readonly verdicts = new LruCache<string, string>(keptVerdicts);

  constructor(private readonly limits: SchemaLimits = usualLimits) {
    this.slots = new ParserSlots(limits.processes);
  }

  /** For each schema, in order, why it cannot be used: the end of a sentence about it. */
  async readProblems(schemas: readonly Schema[], signal: AbortSignal): Promise<(string | undefined)[]> {
    const unknown = schemas.filter((schema) => this.verdicts.get(toHash(schema)) === undefined);
    const checks = unknown.map((schema) => ({ schema }));
    const outcomes = await this.readOutcomes(checks, { timeoutMs: this.limits.listMs, signal });
    const found = new Map(unknown.map((schema, index) => [schema, outcomes[index] ?? tooCostly]));
    for (const [schema, outcome] of found) {
      if (outcome !== tooCostly) this.verdicts.set(toHash(schema), outcome.schema ?? usable);
    }
    return schemas.map((schema) => {
      const problem = found.get(schema)?.schema ?? this.verdicts.get(toHash(schema));
      return problem === usable ? undefined : problem && readableLine(problem, shownCharacters);
    });
  }

  /** Why a schema does not accept a value: lines for the model. */
  async findProblem(schema: Schema, given: unknown, signal: AbortSignal): Promise<string | undefined> {
    const limit = { timeoutMs: this.limits.valueMs, signal };
    const [outcome = tooCostly] = await this.readOutcomes([{ schema, value: { given } }], limit);
    if (outcome.schema !== undefined) return `- its schema ${readableLine(outcome.schema, shownCharacters)}`;
    return outcome.value?.map(({ at, problem }) => toLine(at, problem)).join('\n');
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.idle.splice(0).map((process) => process.end()));
  }

  /** A check that costs too much ends its process; those after it are tried in another, while there is time. */
  private async readOutcomes(
    checks: readonly SchemaCheck[],
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<SchemaOutcome[]> {
    const outcomes: SchemaOutcome[] = [];
    if (checks.length === 0) return outcomes;
    return this.slots.use(signal, async () => {
      let leftMs = timeoutMs;
      while (outcomes.length < checks.length && leftMs > 0) {
        const process = await this.aProcess();
        const startedAt = performance.now();
        outcomes.push(...(await process.readOutcomes(checks.slice(outcomes.length), leftMs)));
        leftMs -= performance.now() - startedAt;
        if (outcomes.length < checks.length) outcomes.push(tooCostly);
        if (process.isAlive && !this.isClosed) this.idle.push(process);
        else await process.end();
      }
      return outcomes;
    });
  }

  private async aProcess(): Promise<SchemaProcess> {
    const idle = this.idle.pop();
    return idle?.isAlive === true ? idle : SchemaProcess.start();
  }
}

const toHash = (schema: Schema): string => createHash('sha256').update(JSON.stringify(schema)).digest('base64');

function toLine(at: string, problem: string): string {
  const place = at === '' ? 'the whole' : at.slice(1).replaceAll('/', '.');
  return `- ${readableLine(`${place}: ${problem}`, shownCharacters)}`;
}

interface PromisedCall {
  readonly tool: McpTool;
  readonly given: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly keep: KeepBytes;
}

type Schemas = Pick<SchemaChecker, 'findProblem'>;

/** Why a call is not sent: its arguments are not what the tool demands. */
export async function problemBefore(
  { tool, given, signal }: PromisedCall,
  schemas: Schemas,
): Promise<ToolResult | undefined> {
  const problem = await schemas.findProblem(tool.parameters, given, signal);
  return problem === undefined
    ? undefined
    : toFailedResult(`Invalid arguments for ${tool.name}, so the call was not sent:\n${problem}`);
}

/** The result, or what it lacks of that which the tool promises. The call has had its effect in both cases. */
export async function checkPromises(
  { tool, signal, keep }: PromisedCall,
  answer: McpAnswer,
  schemas: Schemas,
): Promise<ExecutorResult> {
  if (!tool.output_schema || answer.isError) return toResult(answer, keep);
  const problem =
    answer.structuredContent === undefined
      ? '- there is no structured content'
      : await schemas.findProblem(tool.output_schema, answer.structuredContent, signal);
  return problem === undefined
    ? toResult(answer, keep)
    : toFailedResult(
        `The call was executed, but its result is not what the tool's output schema promises:\n${problem}`,
      );
}
