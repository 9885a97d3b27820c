import { join } from 'node:path';
import { toDollars } from '../dollars';
import { UsageError, type Context, type Given } from '../command';
import { allVariables, checkout } from '../config';
import type { Ending } from '../exit-codes';
import { type Examined, type ModelFinding, examineModel } from '../setup/ask-model';
import { readSettings, writeSettings } from '../setup/env-file';

const marks = { works: '✓', adapted: '~', lacks: '-', unknown: '?', broken: '✗' } as const;
const colours = { works: 'green', adapted: 'cyan', lacks: 'dim', unknown: 'yellow', broken: 'red' } as const;

const variable = 'MODEL_PROVIDERS';

/** Finds out what a model can do, and writes what is to be declared into the file with `--write`. */
export async function checkModel(model: string, given: Given, { terminal }: Context): Promise<Ending> {
  const file = given.value('env-file') ?? join(checkout() ?? '.', '.env');
  if (given.has('write') && allVariables[variable] !== undefined)
    throw new UsageError(`${variable} is set in the environment, which counts more than ${file}: change it there.`);
  const variables = { ...readSettings(file), ...allVariables };
  const examined = await examineModel({ variables, model }, (about, call) =>
    terminal.status(`Asking ${model}: ${about} (call ${call}) …`),
  );
  terminal.status('');
  if (!examined)
    throw new UsageError('This needs the built sources of Rondo: npm run doctor -- --model, in a checkout.');
  if ('reason' in examined) {
    terminal.complain(examined.reason);
    return 'failed';
  }
  const { examination, declaration } = examined;
  const isWritten = given.has('write') && declaration !== undefined;
  if (isWritten) writeSettings(file, { [variable]: declaration.value });
  if (terminal.isJson)
    terminal.json({ model, ...examination, declare: declaration?.shown ?? null, written: isWritten });
  else show(examined, { terminal, file, isWritten });
  return examination.findings.some(({ status }) => status === 'broken') ? 'failed' : 'ok';
}

interface Shown extends Pick<Context, 'terminal'> {
  readonly file: string;
  readonly isWritten: boolean;
}

function show({ examination, declaration }: Examined, { terminal, file, isWritten }: Shown): void {
  for (const finding of examination.findings) showFinding(finding, terminal);
  const { calls, usage } = examination;
  const cost = usage.costUsd === null ? '' : `, ${toDollars(usage.costUsd)}`;
  terminal.note(`${calls} calls, ${usage.inputTokens} tokens in, ${usage.outputTokens} out${cost}`, 'dim');
  if (!declaration) {
    terminal.line('Nothing is to be declared: Rondo knows how to ask it.');
    return;
  }
  terminal.line(isWritten ? `${file}: ${variable} has now` : `To be declared in ${variable} (--write does it):`);
  terminal.line(JSON.stringify(declaration.shown));
}

function showFinding({ name, status, found, advice }: ModelFinding, terminal: Context['terminal']): void {
  terminal.line(`${terminal.style(marks[status], colours[status])} ${name.padEnd(22)} ${found}`);
  if (advice !== undefined) terminal.line(`  ${''.padEnd(22)} → ${advice}`);
}
