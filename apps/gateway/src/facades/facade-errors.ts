import {
  type FacadeCoverage,
  type ProblemBody,
  a2aCoverage,
  agUiCoverage,
  aiSdkCoverage,
  anthropicCoverage,
  findRefusedRoute,
  iiAgentCoverage,
  langGraphCoverage,
  mcpCoverage,
  openAiCoverage,
  sunaCoverage,
} from '@rondo/contract/api';
import { toA2aError } from './a2a/a2a.errors';
import { toAnthropicError } from './anthropic/anthropic-errors';
import type { FacadeError } from './facade-error';
import { toMcpError } from './mcp/mcp-errors';
import { toOpenAiError } from './openai/openai-errors';

/** A request that is answered with an error. */
interface FailedRequest {
  readonly method: string;
  readonly path: string;
  /** That of the response, where the façade has one. */
  readonly requestId: string | null;
}

interface FailedFacadeRequest extends FailedRequest {
  /** Names a route of the protocol that is not served, with the reason. Undefined for every other failure. */
  readonly refusal: string | undefined;
}

interface Facade {
  readonly coverage: FacadeCoverage;
  readonly toError: (problem: ProblemBody, request: FailedFacadeRequest) => FacadeError;
}

/** As servers in Python answer. */
const toDetail = ({ title, detail, code }: ProblemBody, { refusal }: FailedFacadeRequest): FacadeError =>
  writeDetail(refusal ?? detail ?? title, code);

const writeDetail = (detail: string | object, code: string): FacadeError => ({
  contentType: 'application/json; charset=utf-8',
  text: JSON.stringify({ detail, code }),
});

/** Suna's pages write into the detail of these, which has to be an object. */
const toSunaError: Facade['toError'] = (problem, request) =>
  problem.status === 402 || problem.status === 429
    ? writeDetail({ message: problem.detail ?? problem.title, running_thread_ids: [], running_count: 0 }, problem.code)
    : toDetail(problem, request);

/** By the beginning of the path. What fails before a handler is reached, for example in a guard, is answered in the same form. */
const facades: Readonly<Record<string, Facade>> = {
  '/a2a': { coverage: a2aCoverage, toError: toA2aError },
  '/ag-ui': {
    coverage: agUiCoverage,
    /** Clients of AG-UI throw it with the text of the answer, and keep it as JSON. */
    toError: ({ title, detail, code }, { refusal }) => ({
      contentType: 'application/json; charset=utf-8',
      text: JSON.stringify({ type: 'RUN_ERROR', message: detail ?? refusal ?? title, code }),
    }),
  },
  '/ai-sdk': {
    coverage: aiSdkCoverage,
    /** The AI SDK shows the body of an answer that is no stream as the message of its error. */
    toError: ({ title, detail, code }) => ({
      contentType: 'text/plain; charset=utf-8',
      text: `${detail ?? title} (${code})`,
    }),
  },
  '/anthropic': { coverage: anthropicCoverage, toError: toAnthropicError },
  '/ii': { coverage: iiAgentCoverage, toError: toDetail },
  '/langgraph': { coverage: langGraphCoverage, toError: toDetail },
  '/mcp': { coverage: mcpCoverage, toError: toMcpError },
  '/openai': { coverage: openAiCoverage, toError: toOpenAiError },
  '/suna': { coverage: sunaCoverage, toError: toSunaError },
};

/** The beginning of the paths of a façade. Undefined for a path of no façade. */
const findPrefix = (path: string): string | undefined =>
  Object.keys(facades).find((prefix) => path === prefix || path.startsWith(`${prefix}/`));

export const isFacadePath = (path: string): boolean => findPrefix(path) !== undefined;

/** Undefined for a path of no façade. */
export function toFacadeError(problem: ProblemBody, request: FailedRequest): FacadeError | undefined {
  const facade = facades[findPrefix(request.path) ?? ''];
  if (!facade) return undefined;
  const isUnserved = problem.code === 'not_found' || problem.code === 'method_not_allowed';
  const refusal = isUnserved ? describeRefusal(facade.coverage, request) : undefined;
  return facade.toError(problem, { ...request, refusal });
}

function describeRefusal(coverage: FacadeCoverage, { method, path }: FailedRequest): string | undefined {
  if (!path.startsWith(coverage.path)) return undefined;
  const why = findRefusedRoute(coverage, method, path.slice(coverage.path.length) || '/');
  return why === undefined ? undefined : `${method} ${path} is not served here: ${why}.`;
}
