import { createHash } from 'node:crypto';
import { LruCache } from '@rondo/platform';
import { ParserSlots } from '../../parsing/parser-slots';
import { readableLine } from '../readable-text';
import { type SchemaCheck, type SchemaOutcome, SchemaProcess } from './schema-process';

type Schema = SchemaCheck['schema'];

export interface SchemaLimits {
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
