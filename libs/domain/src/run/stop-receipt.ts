import type { StoppedChild, StoppedTool } from '../ports';

/** With one piece a millisecond, this covers more time than a stop request needs to reach the worker. */
const maxPieces = 6_000;
const charactersPerToken = 4;

/** Collects what a stop did and when, for the terminal fact (I7). */
export class StopReceipt {
  private modelAbortedAt: string | null = null;
  private readonly pieces: { readonly at: string; characters: number }[] = [];
  private toolsStopped: StoppedTool[] = [];
  private leftIsUnverified = false;
  private children: readonly StoppedChild[] = [];

  modelAborted(at: string): void {
    this.modelAbortedAt = at;
  }

  /** Records output that was shown at a time (ISO 8601). A stop reaches the worker later than it was requested. */
  recordShown({ length }: string, at: string): void {
    const last = this.pieces.at(-1);
    if (last?.at === at) last.characters += length;
    else this.pieces.push({ at, characters: length });
    if (this.pieces.length > maxPieces) this.pieces.shift();
  }

  toolStopped(tool: StoppedTool): void {
    this.toolsStopped.push(tool);
  }

  /** Records background processes that were ended; undefined if their end was not confirmed. Lists each call once. */
  recordLeft(stoppedTools: readonly StoppedTool[] | undefined): void {
    this.leftIsUnverified = stoppedTools === undefined;
    const tools = new Map(this.toolsStopped.map((tool) => [tool.tool_call_id, tool]));
    for (const tool of stoppedTools ?? []) {
      const isUnconfirmed = tools.get(tool.tool_call_id)?.verified_dead_at === null;
      tools.set(tool.tool_call_id, isUnconfirmed ? { ...tool, verified_dead_at: null } : tool);
    }
    this.toolsStopped = [...tools.values()];
  }

  childrenStopped(children: readonly StoppedChild[]): void {
    this.children = children;
  }

  contents(requestedAt: string) {
    const deaths = this.toolsStopped.map(({ verified_dead_at: at }) => at);
    return {
      requested_at: requestedAt,
      model_aborted_at: this.modelAbortedAt,
      tools_stopped: this.toolsStopped,
      ...(this.children.length > 0 && { child_runs_stopped: [...this.children] }),
      tokens_after_stop: this.tokensAfter(requestedAt),
      sandbox_verified_at: this.leftIsUnverified || deaths.includes(null) ? null : (deaths.toSorted().at(-1) ?? null),
    };
  }

  private tokensAfter(requestedAt: string): number {
    const after = this.pieces.filter(({ at }) => at > requestedAt);
    return Math.ceil(after.reduce((sum, { characters }) => sum + characters, 0) / charactersPerToken);
  }
}
