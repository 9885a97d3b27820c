import type { ReplyChunk } from '@rondo/domain';
import { ProviderError } from '../provider-error';
import type { ToolCallDelta } from './openai-chunk';

/** The limit of arguments that arrive before the name of their call, which do not count as output before. */
const maxUnnamed = 1_000_000;

interface OpenCall {
  readonly index: number;
  readonly id: string | undefined;
  named: boolean;
  /** Arguments that arrived before the name. */
  early: string;
  hasArguments: boolean;
}

/**
 * Assigns the deltas of a reply to its calls. OpenAI numbers calls and names each once; compatible servers omit ids, send
 * whole calls at once, number each from 0 again, or number none.
 */
export class CallAssembly {
  private readonly open = new Map<number, OpenCall>();
  private latest: OpenCall | undefined;
  private count = 0;

  get any(): boolean {
    return this.count > 0;
  }

  add(delta: ToolCallDelta, chunks: ReplyChunk[]): void {
    const known = this.continued(delta);
    const call = known ?? this.start(delta);
    const name = delta.function?.name;
    if (name && !call.named) {
      call.named = true;
      chunks.push({ type: 'call_start', index: call.index, name });
    }
    const written = delta.function?.arguments;
    const text = typeof written === 'object' && written !== null ? JSON.stringify(written) : (written ?? '');
    this.addArguments(call, text, chunks);
  }

  private addArguments(call: OpenCall, text: string, chunks: ReplyChunk[]): void {
    if (text !== '') call.hasArguments = true;
    if (!call.named) {
      call.early += text;
      if (call.early.length > maxUnnamed)
        throw new ProviderError('api_error', 'The provider sent arguments of a tool call and no name.');
      return;
    }
    const all = call.early + text;
    call.early = '';
    if (all !== '') chunks.push({ type: 'call_arguments', index: call.index, text: all });
  }

  /** The call that a delta continues; undefined if it begins another one. */
  private continued({ index, id, function: named }: ToolCallDelta): OpenCall | undefined {
    const call = typeof index === 'number' ? this.open.get(index) : this.latest;
    if (!call) return undefined;
    if (id) return call.id === undefined || call.id === id ? call : undefined;
    return named?.name && call.named && call.hasArguments ? undefined : call;
  }

  private start({ index, id }: ToolCallDelta): OpenCall {
    const call: OpenCall = { index: this.count++, id: id ?? undefined, named: false, early: '', hasArguments: false };
    this.open.set(index ?? call.index, call);
    this.latest = call;
    return call;
  }
}
