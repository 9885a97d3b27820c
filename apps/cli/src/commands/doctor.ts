import { join } from 'node:path';
import { type Command, type Context, UsageError } from '../command';
import { checkout } from '../config';
import { checkRun } from '../doctor/demo-run';
import { type Finding, broken, toMessage, skip } from '../doctor/finding';
import { checkGateway, checkKey, checkModels, checkProcesses, checkServers } from '../doctor/gateway';
import { checkDisk, checkIsolation, checkKernel, checkNode } from '../doctor/machine';
import { checkModel } from '../doctor/model';

const marks = { ok: '✓', warning: '!', broken: '✗', skipped: '-' } as const;
const colours = { ok: 'green', warning: 'yellow', broken: 'red', skipped: 'dim' } as const;

/** A check that cannot be made is one that failed. */
const tryCheck = async (name: string, check: () => Promise<Finding | Finding[]>): Promise<Finding[]> =>
  [
    await check().catch((error: unknown) =>
      broken(name, [toMessage(error), 'rondo doctor again, once the rest is in order']),
    ),
  ].flat();

async function checkMachine(): Promise<Finding[]> {
  const root = checkout();
  if (root === undefined) return [checkNode(process.versions.node)];
  const isolation = checkIsolation(join(root, '.data/logs/tool-executor.log'));
  return [checkNode(process.versions.node), await checkDisk(root), checkKernel(), isolation];
}

/** What depends on the gateway is not checked without it. */
async function checkDeployment({ url, rondo }: Context, quick: boolean): Promise<Finding[]> {
  const gateway = await checkGateway(url);
  if (gateway.status === 'broken') return [gateway, skip('everything else', 'needs the gateway')];
  const key = () => tryCheck('key', () => checkKey(rondo()));
  const models = () => tryCheck('models', () => checkModels(rondo()));
  const [servers, keys] = await Promise.all([tryCheck('servers', () => checkServers(url)), tryCheck('key', key)]);
  if (keys.some(({ status }) => status === 'broken'))
    return [gateway, ...servers, ...keys, skip('a run', 'needs a key')];
  const processes = await tryCheck('processes', () => checkProcesses(rondo()));
  if (processes.some(({ status }) => status === 'broken'))
    return [gateway, ...servers, ...keys, ...processes, skip('a run', 'needs the processes')];
  const runs = quick ? [] : await tryCheck('a run', () => checkRun(rondo()));
  return [gateway, ...servers, ...keys, ...processes, ...(await models()), ...runs];
}

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check everything, and say what to do about what is not in order',
  options: [
    { name: 'quick', help: 'without a run' },
    { name: 'model', value: 'MODEL', help: 'instead, find out by at most 40 small calls what this model can do' },
    { name: 'write', help: 'of a model: write what is to be declared into the .env file' },
    { name: 'env-file', value: 'FILE', help: 'of a model: instead of .env in the checkout' },
  ],
  details:
    'This machine, the gateway, its Postgres, Redis and NATS, the key, the models, and one whole run of a scripted model with a ' +
    'command in a sandbox. It needs no model key. It succeeds if nothing is broken. With `--model provider/name` it asks that model, ' +
    'through the requests of a run and with the settings of the environment and the .env file, and says what works, what is ' +
    'adapted, what the model lacks, and what to declare in `MODEL_PROVIDERS`. The calls have a price; one of them is longer than the ' +
    'declared context window, which servers refuse unread.',
  async run(given, context) {
    const model = given.value('model');
    if (model !== undefined) return checkModel(model, given, context);
    if (given.has('write') || given.has('env-file')) throw new UsageError('--write and --env-file belong to --model.');
    const { terminal } = context;
    const both = await Promise.all([tryCheck('machine', checkMachine), checkDeployment(context, given.has('quick'))]);
    const findings = both.flat();
    for (const finding of findings) {
      const { name, status, found, advice } = finding;
      if (terminal.isJson) terminal.json(finding);
      else {
        terminal.line(`${terminal.style(marks[status], colours[status])} ${name.padEnd(16)} ${found}`);
        if (advice !== undefined) terminal.line(`  ${''.padEnd(16)} → ${advice}`);
      }
    }
    return findings.some(({ status }) => status === 'broken') ? 'failed' : 'ok';
  },
};
