import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { findProgram, toProgramEnvironment } from '../config';

/** How a model is asked: the variables that the service would be started with, and `provider/model`. */
export interface ModelAccess {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly model: string;
}

/** What was found out about a model; libs/llm/src/examination says more. */
export interface ModelFinding {
  readonly name: string;
  readonly status: 'works' | 'adapted' | 'lacks' | 'broken' | 'unknown';
  readonly found: string;
  readonly advice?: string;
}

export interface Examined {
  readonly examination: {
    readonly findings: readonly ModelFinding[];
    readonly calls: number;
    readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number | null };
  };
  /** What is to be declared in MODEL_PROVIDERS, as it is shown, and the whole value. */
  readonly declaration?: { readonly shown: object; readonly value: string };
}

type Line = Partial<Examined> & {
  readonly about?: string;
  readonly call?: number;
  readonly reason?: string;
  readonly isLast?: boolean;
};

/** The program that asks as the service does. */
const examiner = 'apps/agent-worker/dist/examine-model.js';

/** Undefined where the program that asks is not built. */
export async function testModel(access: ModelAccess): Promise<{ readonly reason?: string } | undefined> {
  const file = findProgram(examiner);
  return file === undefined ? undefined : askProgram(file, { ...access, for: 'word' });
}

/** Undefined where the program that asks is not built. `reason`: why the model cannot be asked at all. */
export async function examineModel(
  access: ModelAccess,
  onProgress: (about: string, call: number) => void,
): Promise<Examined | { readonly reason: string } | undefined> {
  const file = findProgram(examiner);
  if (file === undefined) return undefined;
  const { examination, declaration, reason } = await askProgram(file, { ...access, for: 'examination' }, onProgress);
  return examination
    ? { examination, ...(declaration && { declaration }) }
    : { reason: reason ?? 'no answer came from the program that asks it' };
}

async function askProgram(
  file: string,
  asked: ModelAccess & { readonly for: string },
  onProgress: (about: string, call: number) => void = () => undefined,
): Promise<Line> {
  const child = spawn(process.execPath, [file], {
    env: toProgramEnvironment(asked.variables),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(JSON.stringify(asked));
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line; // the program prints these
    if (line.isLast) return line;
    onProgress(line.about ?? '', line.call ?? 0);
  }
  return { reason: `${file} could not ask it.` };
}
