import { type ExecutorResult, type McpTool, type ToolResult, failedResult } from '@rondo/contract';
import { type KeepBytes, type McpAnswer, toResult } from '../mcp-result';
import type { SchemaChecker } from './schema-checker';

export interface PromisedCall {
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
    : failedResult(`Invalid arguments for ${tool.name}, so the call was not sent:\n${problem}`);
}

/** The result, or what it lacks of that which the tool promises. The call has had its effect in both cases. */
export async function promisedResult(
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
    : failedResult(`The call was executed, but its result is not what the tool's output schema promises:\n${problem}`);
}
