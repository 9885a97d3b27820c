import type { StoppedTool } from './ports';

/** Collects what a stop did and when, for the terminal fact (I7). */
export class StopReceipt {
  private modelAbortedAt: string | null = null;
  private tokensAfterStop = 0;
  private readonly toolsStopped: StoppedTool[] = [];

  modelAborted(at: string): void {
    this.modelAbortedAt = at;
  }

  /** Output that was passed on although the stop had been asked for; four characters make a token. */
  outputAfterStop(text: string): void {
    this.tokensAfterStop += Math.ceil(text.length / 4);
  }

  toolStopped(tool: StoppedTool): void {
    this.toolsStopped.push(tool);
  }

  contents(requestedAt: string) {
    return {
      requested_at: requestedAt,
      model_aborted_at: this.modelAbortedAt,
      tools_stopped: this.toolsStopped,
      tokens_after_stop: this.tokensAfterStop,
    };
  }
}
