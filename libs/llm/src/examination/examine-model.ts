import type { RunError } from '@rondo/contract';
import { type ProfileRules, type ProviderSettings, hasToolCalls, splitModelName } from '@rondo/domain';
import type { ProxySettings } from '../http/lean-fetch';
import { ExaminationEnded, Examiner, type ModelFinding } from './examiner';
import { probeDocument, probeEfforts, probeImage, probeTooLong } from './probe-inputs';
import { askForOneWord, probeParameters, probeReply } from './probe-replies';
import { probeForeignCall, probeManyTools, probeSchemas, probeTools, probeUserAfterTool } from './probe-tools';

export interface ExaminedModel {
  /** Its provider, as the service has it. */
  readonly provider: ProviderSettings;
  /** `provider/model` */
  readonly model: string;
  readonly proxies?: ProxySettings;
  readonly signal: AbortSignal;
  /** Called with what is being found out, and the number of the call. */
  readonly onProgress?: (about: string, call: number) => void;
}

/** What was found out about a model. */
export interface Examination {
  readonly findings: readonly ModelFinding[];
  /** The rules that differ from those that the service would follow without them. Empty: nothing is to be declared. */
  readonly rules: ProfileRules;
  /** The facts about the model that differ. */
  readonly facts: { readonly tool_calls?: false; readonly printed_calls?: true };
  readonly calls: number;
  /** What the calls have used. The cost is in USD, and null where the price is not known. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number | null };
}

const mostCalls = 40;

/**
 * Finds out by at most 40 calls, most of them of a few tokens, what the server of a model accepts and how it replies. It asks through
 * the requests, the retries and the readers of a run. Never rejects: what could not be found out is a finding.
 */
export async function examineModel(examined: ExaminedModel): Promise<Examination> {
  const examiner = createExaminer(examined, { mostCalls, attempts: 3 });
  const findings: ModelFinding[] = [];
  let facts: Examination['facts'] = {};
  try {
    findings.push(...(await probeReply(examiner)));
    const tools = await probeTools(examiner);
    findings.push(...tools.findings);
    facts = tools.facts;
    if (tools.hasCalls) {
      findings.push(...(await probeUserAfterTool(examiner, tools.conversation)));
      findings.push(...(await probeForeignCall(examiner)));
    }
    const inputs = [probeImage, probeEfforts, probeDocument];
    const offers = facts.tool_calls === false ? [] : [probeSchemas, probeManyTools];
    for (const probe of [...inputs, ...offers, probeParameters, probeTooLong])
      findings.push(...(await probe(examiner)));
  } catch (error) {
    if (!(error instanceof ExaminationEnded)) throw error;
    findings.push(judgeEnd(error, examiner.calls.all.length));
  }
  const { input, output, costUsd, isPriced } = examiner.usage;
  return {
    findings,
    rules: examiner.changed,
    facts: readNewFacts(facts, examined),
    calls: examiner.calls.all.length,
    usage: { inputTokens: input, outputTokens: output, costUsd: isPriced ? costUsd : null },
  };
}

/** Asks for one word, once, through the request of a run. Why it does not work, for people; undefined if it does. */
export async function tryModel(examined: ExaminedModel): Promise<string | undefined> {
  try {
    await askForOneWord(createExaminer(examined, { mostCalls: 5, attempts: 1 }));
    return undefined;
  } catch (error) {
    if (error instanceof ExaminationEnded) return explain(error.error);
    throw error;
  }
}

function createExaminer(
  { provider, model, proxies, signal, onProgress = () => undefined }: ExaminedModel,
  limits: { readonly mostCalls: number; readonly attempts: number },
): Examiner {
  return new Examiner({ provider, id: splitModelName(model).id, proxies, signal, onProgress, ...limits });
}

function judgeEnd({ error }: ExaminationEnded, calls: number): ModelFinding {
  if (error === undefined)
    return {
      name: 'the rest',
      status: 'unknown',
      found: `not found out: ${calls} calls are spent, or it was interrupted`,
    };
  return {
    name: calls <= 1 ? 'reply' : 'the rest',
    status: 'broken',
    found: explain(error),
    advice: 'Run it again when this is mended.',
  };
}

/** Why a model cannot be asked. */
function explain(error: RunError | undefined): string {
  if (error === undefined) return 'it was interrupted';
  const said = error.message.replaceAll(/\s+/g, ' ').slice(0, 300);
  switch (error.code) {
    case 'authentication':
      return `the key is refused: ${said}`;
    case 'not_found':
    case 'model_not_supported':
      return `there is no such model, or the URL is wrong: ${said}`;
    case 'rate_limit':
      return `the key works, but its limit is used up: ${said}`;
    case 'budget_exceeded':
      return `the key works, but its account has no money: ${said}`;
    case 'connection_error':
      return `the server cannot be reached: ${said}`;
    default:
      return said;
  }
}

/** Without what is declared or known already. */
function readNewFacts(found: Examination['facts'], { provider, model }: ExaminedModel): Examination['facts'] {
  const isKnown = found.tool_calls !== undefined && hasToolCalls(model, { providers: [provider] }) === found.tool_calls;
  if (!isKnown) return found;
  const { tool_calls: _, ...others } = found;
  return others;
}
